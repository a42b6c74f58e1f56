"""Mapping: VMs are assigned to hosts for a given interval (haizea F30, F31, F33; Sotomayor 2010, algorithm 1).

Algorithm 4, which shortens the interval while it maps, is split in two: ``plan.host_fit`` finds the latest end for
which enough hosts are free, and the mapper then maps for exactly that interval. With identical VMs and hosts both give
the same result; otherwise the interval found here is never shorter.
"""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.availability import Availability, IntArray
from lease_scheduler.plan.demand import Demand
from lease_scheduler.plan.interfaces import HostsAt, HostSelection, Mapper, Room


class GreedyMapping:
    """Fills each host before the next one (haizea F31, F33)."""

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
    """Return a host for each VM for the whole of ``[start, end)``, or None if they do not all fit.

    Node sets are placed in decreasing order of the needs of one VM. The selection policy orders the hosts, and the
    mapper distributes the VMs over them.

    :param demands: the demands of the request's node sets
    :return: host number of each VM, in the order of the request's VMs
    """
    if not demands:
        return ()
    if len(demands) == 1:
        demand = demands[0]
        places = availability.places(demand.amounts, demand.eligible, demand.per_host).on_hosts(start, end)
        if places.sum() < demand.count:
            return None
        ranked = selection.rank(hosts_at(availability, start, end, places.nonzero()[0]), request)
        return _mapped_alike(places, demand.count, ranked, mapper)
    free = availability.free(start, end)
    ranked = selection.rank(hosts_at(availability, start, end, np.arange(free.shape[1])), request)
    assignment = _mapped(free, demands, ranked, mapper)
    if assignment is None:
        # If node sets compete for hosts, the policies' choice can be a dead end, even on an empty site.
        # ``plan.explain.too_large`` maps in this order when it admits a lease, so no admitted lease waits forever.
        assignment = _mapped(free, demands, np.sort(ranked), GREEDY)
    return assignment


def _mapped_alike(places: IntArray, count: int, ranked: IntArray, mapper: Mapper) -> tuple[int, ...] | None:
    """Return a host for each of ``count`` identical VMs, taking hosts in the given order, or None.

    :param places: how many of them each host can take
    """
    usable = ranked[places[ranked] > 0]
    taken = distributed(mapper, places[usable], np.zeros(len(usable), dtype=np.int64), count)
    return None if taken is None else tuple(usable[: len(taken)].repeat(taken).tolist())


def _mapped(free: IntArray, demands: tuple[Demand, ...], ranked: IntArray, mapper: Mapper) -> tuple[int, ...] | None:
    """Return a host for each VM, taking hosts in the given order and the largest VMs first, or None."""
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
    """Return how many of ``count`` VMs each host gets, or None if there are not enough places.

    :param places: how many VMs each host can take, best host first, each at least 1
    :param present: how many VMs of the lease each host has already, same shape
    :return: may be shorter than ``places``; the other hosts get no VM
    :raises RuntimeError: the mapper policy returned an invalid distribution
    """
    if int(places.sum()) < count:
        return None
    taken = mapper.distribute(places, present, count)
    if int(taken.sum()) != count or (taken < 0).any() or (taken > places[: len(taken)]).any():
        raise RuntimeError(f"mapper {type(mapper).__name__} gave {taken.tolist()} for {count} VMs")
    return taken


def hosts_at(availability: Availability, start: int, end: int, numbers: IntArray) -> HostsAt:
    """Return the hosts as policies see them for a lease that has them in ``[start, end)``."""
    capacity = availability.capacity.take(numbers, axis=1)
    used, unchanged_until = availability.at(start, numbers)

    def room() -> Room:
        everywhere = availability.capacity
        allocated = (everywhere - availability.free_at(start)) / np.maximum(everywhere, 1)
        # Rows of nested providers follow those of the classes.
        rows = slice(len(availability.classes) or None)
        return Room(
            availability.classes,
            availability.free(start, end)[rows].take(numbers, axis=1),
            capacity[rows],
            allocated.max(axis=0),
        )

    # Where the capacity is 0, so is the use: divide by 1 instead of 0.
    share = (capacity - used[:-1]) / np.maximum(capacity, 1)
    return HostsAt(
        numbers=numbers,
        leases=used[-1],
        free=share.sum(axis=0) / len(share),
        unchanged=unchanged_until - start,
        room=room,
    )


def places_for(free: IntArray, demand: Demand) -> IntArray:
    """Return how many VMs of the demand each host can take."""
    fitting = [free[row] // amount for row, amount in enumerate(demand.amounts.tolist()) if amount]
    if not fitting:
        # All needed classes are such that no host offers.
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
    """Return the indices of the node sets by decreasing needs of one VM, relative to the largest need of each class."""
    if len(demands) == 1:
        return [0]
    amounts = np.array([demand.amounts for demand in demands], dtype=np.float64)
    largest = amounts.max(axis=0)
    size = np.divide(amounts, largest, out=np.zeros(amounts.shape), where=largest > 0).sum(axis=1)
    return [int(index) for index in np.argsort(-size, kind="stable")]
