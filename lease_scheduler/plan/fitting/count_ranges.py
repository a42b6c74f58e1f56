"""Ranges of counts: leases of the queue that take as many nodes as are free when their turn comes.

While such a lease waits, it counts with its fewest nodes. At its turn it gets the earliest place for these, and as many
more as are free for the same time. The number stays with it, also while it is suspended. If it loses its place before
it starts, or its work, it waits with its fewest nodes again.

Grit 2007, section 6.1.1 (shirako F12, F70, A10, A14): units grow before their sizes do, and nothing waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.fitting.largest_fit import most_that_fits, with_counts

#: Returns whether a lease may have the numbers of nodes in these terms, at the place that was found for them.
MayGrow = Callable[[LeaseRequest, Holding], bool]


def with_ranges(request: LeaseRequest, least: tuple[int, ...]) -> LeaseRequest:
    """Return the terms with which a lease waits in the queue: with its fewest nodes, and its range.

    :param request: terms with the maximum numbers of nodes
    :param least: for each node set, the smallest acceptable number of nodes
    """
    nodes = tuple(
        node_set if fewest == node_set.count else replace(node_set, count=fewest, count_range=(fewest, node_set.count))
        for node_set, fewest in zip(request.nodes, least, strict=True)
    )
    return replace(request, nodes=nodes)


def has_ranges(request: LeaseRequest) -> bool:
    """Return whether some node set of a request takes as many nodes as are free."""
    return any(node_set.count_range is not None for node_set in request.nodes)


def at_fewest(request: LeaseRequest) -> LeaseRequest:
    """Return a request with the fewest nodes that suffice."""
    return with_counts(request, tuple(node_set.fewest for node_set in request.nodes))


def at_most(request: LeaseRequest) -> LeaseRequest:
    """Return a request with the most nodes that it may get."""
    return with_counts(request, tuple(node_set.most for node_set in request.nodes))


def as_it_waits(lease: Lease) -> Lease:
    """Return a lease with its fewest nodes if it is queued and has not run; any other lease as it is.

    A price that was agreed on for another number of nodes is agreed on again when the lease gets a place.
    """
    if lease.state is not LeaseState.QUEUED or not has_ranges(lease.request):
        return lease
    if all(node_set.count == node_set.fewest for node_set in lease.request.nodes):
        return lease
    return replace(lease, request=at_fewest(lease.request), grant=replace(lease.grant, price=None, retained=0.0))


def with_most_nodes(
    lease: Lease, holding: Holding, find: Callable[[Lease], Holding | None], may_grow: MayGrow | None
) -> tuple[Lease, Holding]:
    """Return a lease with as many nodes as are free where it starts, and its place with these.

    :param lease: has its fewest nodes; a suspended one keeps those that it has
    :param holding: its earliest place
    :param find: returns the earliest place of the lease with other numbers of nodes, or None
    :param may_grow: which numbers it may have; None means all
    """
    if not has_ranges(lease.request) or lease.state in SUSPENDED_STATES:
        return lease, holding
    places = {lease.request.nodes: holding}

    def fits(request: LeaseRequest) -> bool:
        if request.nodes in places:
            return True
        found = find(replace(lease, request=request))
        if found is None or found.start > holding.start or _run(found) < _run(holding):
            return False
        if may_grow is not None and not may_grow(request, found):
            return False
        places[request.nodes] = found
        return True

    fewest = tuple(node_set.fewest for node_set in lease.request.nodes)
    request = most_that_fits(at_most(lease.request), fewest, fits) or lease.request
    return replace(lease, request=request), places[request.nodes]


def _run(holding: Holding) -> int:
    return holding.run_end - holding.run_start
