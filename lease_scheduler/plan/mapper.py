"""Which hosts: VMs are mapped to hosts for a given interval (haizea F30, F31, F33; Sotomayor 2010, algorithm 1).

Algorithm 4, which lets the end of the interval shrink while it maps, is split in two here: ``plan.soonest`` first finds
the latest end that enough hosts can hold, then this mapper maps for exactly that interval. Where VMs and hosts are
alike both give the same answer; elsewhere ours is never shorter.
"""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.availability import Availability, IntArray
from lease_scheduler.plan.demand import Demand
from lease_scheduler.plan.interfaces import HostsAt, HostSelection, Mapper


class GreedyMapping:
    """Each host gets as many VMs as it can take before the next one (haizea F31, F33)."""

    def distribute(self, places: IntArray, present: IntArray, count: int) -> IntArray:
        """See ``interfaces.Mapper``."""
        running_total = places.cumsum()
        last = int(running_total.searchsorted(count))
        taken: IntArray = places[: last + 1].copy()
        taken[-1] -= running_total[last] - count
        return taken


GREEDY = GreedyMapping()


def map_vms(
    availability: Availability,
    request: LeaseRequest,
    demands: tuple[Demand, ...],
    start: int,
    end: int,
    selection: HostSelection,
    mapper: Mapper,
) -> tuple[int, ...] | None:
    """A host for every VM for the whole of ``[start, end)``, or none if they do not all fit.

    Node sets are placed in decreasing order of what one VM needs, on hosts in the order of the selection policy, as the
    mapper distributes them.

    :param demands: the request's node sets in the terms of the plan
    :return: host number of each VM, in the order of the request's VMs
    """
    if not demands:
        return ()
    if len(demands) == 1:
        demand = demands[0]
        places = availability.places(demand.amounts, demand.eligible, demand.per_host).on_hosts(start, end)
        if places.sum() < demand.count:
            return None
        ranked = selection.rank(hosts_at(availability, start, places.nonzero()[0]), request)
        return _mapped_alike(places, demand.count, ranked, mapper)
    free = availability.free(start, end)
    ranked = selection.rank(hosts_at(availability, start, np.arange(free.shape[1])), request)
    assignment = _mapped(free, demands, ranked, mapper)
    if assignment is None:
        # Where node sets compete for hosts the policies' choice can be a dead end, even on an empty site. This is how
        # ``plan.explain.too_large`` admitted the lease, so none waits for ever.
        assignment = _mapped(free, demands, np.sort(ranked), GREEDY)
    return assignment


def _mapped_alike(places: IntArray, count: int, ranked: IntArray, mapper: Mapper) -> tuple[int, ...] | None:
    """A host for each of some VMs that are alike, when hosts are taken in the given order.

    :param places: how many of them each host can take
    """
    usable = ranked[places[ranked] > 0]
    taken = distributed(mapper, places[usable], np.zeros(len(usable), dtype=np.int64), count)
    return None if taken is None else tuple(usable[: len(taken)].repeat(taken).tolist())


def _mapped(free: IntArray, demands: tuple[Demand, ...], ranked: IntArray, mapper: Mapper) -> tuple[int, ...] | None:
    """A host for every VM when hosts are taken in the given order, and the largest VMs first."""
    placed: list[IntArray] = [np.empty(0, dtype=np.int64)] * len(demands)
    present = np.zeros(free.shape[1], dtype=np.int64)
    free = free.copy()
    for index in largest_first(demands):
        demand = demands[index]
        places = places_for(free, demand)
        usable = ranked[places[ranked] > 0]
        taken = distributed(mapper, places[usable], present[usable], demand.count)
        if taken is None:
            return None
        chosen = usable[: len(taken)]
        placed[index] = chosen.repeat(taken)
        present[chosen] += taken
        free[:, chosen] -= demand.amounts[:, None] * taken
    return tuple(np.concatenate(placed).tolist())


def distributed(mapper: Mapper, places: IntArray, present: IntArray, count: int) -> IntArray | None:
    """How many of ``count`` VMs each host gets, none if there are not places enough.

    :param places: how many VMs each host can take, best host first, each at least 1
    :param present: how many VMs of the lease each host has already, same shape
    :return: hosts beyond its end get none
    :raises RuntimeError: the mapper does not do what it is for
    """
    if int(places.sum()) < count:
        return None
    taken = mapper.distribute(places, present, count)
    if int(taken.sum()) != count or (taken < 0).any() or (taken > places[: len(taken)]).any():
        raise RuntimeError(f"mapper {type(mapper).__name__} gave {taken.tolist()} for {count} VMs")
    return taken


def hosts_at(availability: Availability, instant: int, numbers: IntArray) -> HostsAt:
    """The hosts as policies see them at an instant."""
    capacity = availability.capacity.take(numbers, axis=1)
    used, unchanged_until = availability.at(instant, numbers)
    # Of what a host does not have nothing is used.
    share = (capacity - used[:-1]) / np.maximum(capacity, 1)
    return HostsAt(
        numbers=numbers,
        leases=used[-1],
        free=share.sum(axis=0) / len(share),
        unchanged=unchanged_until - instant,
    )


def places_for(free: IntArray, demand: Demand) -> IntArray:
    """How many VMs of the demand each host can take."""
    fitting = [free[row] // amount for row, amount in enumerate(demand.amounts.tolist()) if amount]
    if not fitting:
        # What is needed are classes that no host offers.
        return np.zeros(free.shape[1], dtype=np.int64)
    places: IntArray = fitting[0]
    for other in fitting[1:]:
        np.minimum(places, other, out=places)
    np.maximum(places, 0, out=places)
    if demand.eligible is not None:
        places *= demand.eligible
    if demand.per_host is not None:
        np.minimum(places, demand.per_host, out=places)
    return places


def largest_first(demands: tuple[Demand, ...]) -> list[int]:
    """Indexes of the node sets by decreasing need of one VM, each class normalised by the largest need of it."""
    if len(demands) == 1:
        return [0]
    amounts = np.array([demand.amounts for demand in demands], dtype=np.float64)
    largest = amounts.max(axis=0)
    size = np.divide(amounts, largest, out=np.zeros(amounts.shape), where=largest > 0).sum(axis=1)
    return [int(index) for index in np.argsort(-size, kind="stable")]
