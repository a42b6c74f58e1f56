"""Elastic sizes: node sets that may be smaller than asked for, such as 8 to 16 VCPU.

Until a lease has a place, the plan counts an elastic node set with its smallest size. When the lease gets its place,
its terms get the size that was granted, and that size stays: servers keep the resources that they were booted with.

Grit 2007, "Extensible resource management for networked virtual computing", section 6.1.1 (shirako F21, F70, F71): a
place is sought for the smallest size; larger sizes take only what is free. For numbers of nodes, see ``count_ranges``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import SUSPENDED_STATES
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.count_ranges import MayGrow, at_fewest, has_ranges, with_most_nodes
from lease_scheduler.plan.fitting.earliest_fit import place_soonest
from lease_scheduler.plan.plan import NotPlannableError, Plan
from lease_scheduler.plan.preempting.remaining_work import with_place

#: Level of the largest size; that of the smallest is 0. The levels between them are tried by bisection.
_HIGHEST = 16


def is_elastic(request: LeaseRequest) -> bool:
    """Return whether some node set of a request may still get another size than it asks for."""
    return any(node_set.least_resources is not None for node_set in request.nodes)


def at_least(request: LeaseRequest) -> LeaseRequest:
    """Return the request with the smallest acceptable size of each node set as its only size."""
    return _at_level(request, 0)


def with_sizes_of(request: LeaseRequest, granted: LeaseRequest) -> LeaseRequest:
    """Return the request with the sizes that another one has, where its own are elastic.

    :param granted: terms of the same lease, whose node sets have the same positions
    """
    nodes = list(request.nodes)
    for position, has in enumerate(granted.nodes[: len(nodes)]):
        if nodes[position].least_resources is not None:
            size = has.resources if has.least_resources is None else has.smallest
            nodes[position] = replace(nodes[position], resources=size, least_resources=None)
    return replace(request, nodes=tuple(nodes))


def place_elastic(context: PlanningContext, lease: Lease, place: Callable[[Lease], Lease]) -> Lease:
    """Give an elastic lease a place, as large as possible without any change of other leases.

    If no size has a place without such a change, the smallest one may preempt others as usual.

    :param place: gives a lease that is not elastic its place, and raises ``NotPlannableError`` if there is none
    :return: its new value, which is in the plan and not elastic
    :raises NotPlannableError: there is no place even for the smallest size
    """
    plan = context.plan

    def is_free(level: int) -> bool:
        is_quiet = False
        try:
            with plan.trial():
                place(replace(lease, request=_at_level(lease.request, level)))
                is_quiet = all(new is old or new.lease_id == lease.lease_id for old, new in plan.changes_in_block())
        except NotPlannableError:
            return False
        return is_quiet

    placed = place(replace(lease, request=_at_level(lease.request, _highest_free(is_free))))
    return plan.put(replace(placed, request=_grown(plan, placed, lease.request)))


def placed_soonest(
    context: PlanningContext, lease: Lease, holding: Holding, now: int, may_grow: MayGrow | None = None
) -> Lease:
    """Return a lease with the earliest place that was found for it; an elastic one as large as is free then.

    It first gets as many nodes as it may have, and then their sizes grow.

    :param holding: its earliest place, with the fewest nodes of the smallest size; more of them do not start later
    :param may_grow: which numbers of nodes it may have; None means all of its range
    :return: its new value, not in the plan and not elastic
    """

    def soonest(larger: Lease) -> Holding | None:
        may_wait = holding.start > now
        latest = holding.start if may_wait else None
        return place_soonest(context, larger, now, may_wait=may_wait, latest_start=latest)

    lease, holding = with_most_nodes(lease, holding, soonest, may_grow)
    if not is_elastic(lease.request):
        return with_place(lease, holding)

    def sized(level: int) -> Lease:
        return replace(lease, request=_at_level(lease.request, level))

    level = _highest_free(lambda each: soonest(sized(each)) is not None)
    placed = with_place(sized(level), soonest(sized(level)) or holding)
    plan = context.plan
    with plan.trial():
        plan.put(placed)
        return replace(placed, request=_grown(plan, placed, lease.request))


def placed_again(context: PlanningContext, lease: Lease, now: int) -> Lease | None:
    """Return a lease that has given up its place with the earliest one that there is, or None.

    If it takes as many nodes as are free, it gets no more than it had, and fewer if it starts sooner. One that is
    suspended keeps those that it has.

    :param lease: its value in the plan, without holdings
    """
    had = lease.request
    if has_ranges(had) and lease.state not in SUSPENDED_STATES:
        lease = context.plan.put(replace(lease, request=at_fewest(had)))
    holding = place_soonest(context, lease, now, may_wait=True)
    if holding is None:
        return None

    def may_grow(request: LeaseRequest, found: Holding) -> bool:
        return all(each.count <= before.count for each, before in zip(request.nodes, had.nodes, strict=True))

    placed = placed_soonest(context, lease, holding, now, may_grow)
    return replace(placed, request=had) if placed.request == had else placed


def _highest_free(is_free: Callable[[int], bool]) -> int:
    """Return the highest level that is free, by bisection; 0 if none is."""
    if is_free(_HIGHEST):
        return _HIGHEST
    low, high = 0, _HIGHEST
    while high - low > 1:
        middle = (low + high) // 2
        if is_free(middle):
            low = middle
        else:
            high = middle
    return low


def _at_level(request: LeaseRequest, level: int) -> LeaseRequest:
    return replace(request, nodes=tuple(_sized(node_set, level) for node_set in request.nodes))


def _sized(node_set: NodeSet, level: int) -> NodeSet:
    if node_set.least_resources is None:
        return node_set
    smallest = node_set.smallest
    size = {
        name: smallest[name] + (most - smallest[name]) * level // _HIGHEST for name, most in node_set.resources.items()
    }
    return replace(node_set, resources=Resources(size), least_resources=None)


def _grown(plan: Plan, lease: Lease, wanted: LeaseRequest) -> LeaseRequest:
    """Return the terms of a lease that is in the plan, with the largest sizes that fit on its hosts.

    A lease that will be suspended stays as it is, because the time that this takes was planned with its memory.

    :param wanted: its elastic terms, with the same numbers of nodes
    """
    request = lease.request
    if any(held.closing is Closing.SUSPEND for held in lease.holdings):
        return request
    availability = plan.availability
    frees = [availability.free(held.start, held.end) for held in lease.holdings]
    nodes = list(request.nodes)
    first = 0
    for position, node_set in enumerate(request.nodes):
        of_set = slice(first, first + node_set.count)
        first += node_set.count
        most = wanted.nodes[position]
        if most.least_resources is None or not lease.holdings:
            continue
        size = dict(node_set.resources)
        extra = np.array([most.resources[name] - size.get(name, 0) for name in _common(plan, most)], dtype=np.int64)
        rows = [plan.classes.index(name) for name in _common(plan, most)]
        for held, free in zip(lease.holdings, frees, strict=True):
            hosts, counts = np.unique(np.array(held.assignment[of_set], dtype=np.int64), return_counts=True)
            left: IntArray = np.maximum(free[rows][:, hosts], 0) // counts
            extra = np.minimum(extra, left.min(axis=1))
            for host in hosts.tolist():
                limits = plan.site.hosts[host].max_unit
                unit = [limits.get(name, most.resources[name]) - size.get(name, 0) for name in _common(plan, most)]
                extra = np.minimum(extra, np.maximum(np.array(unit, dtype=np.int64), 0))
        for held, free in zip(lease.holdings, frees, strict=True):
            hosts, counts = np.unique(np.array(held.assignment[of_set], dtype=np.int64), return_counts=True)
            for row, more in zip(rows, extra.tolist(), strict=True):
                free[row, hosts] -= more * counts
        for name, more in zip(_common(plan, most), extra.tolist(), strict=True):
            size[name] = size.get(name, 0) + more
        nodes[position] = replace(node_set, resources=Resources(size))
    return replace(request, nodes=tuple(nodes))


def _common(plan: Plan, node_set: NodeSet) -> list[str]:
    """Return the classes of a node set that the site has."""
    return [name for name in node_set.resources if name in plan.classes]
