"""Mapping: nodes are assigned to hosts for a given interval (haizea F30, F31, F33; Sotomayor 2010, algorithm 1).

Algorithm 4, which shortens the interval while it maps, is split in two: ``plan.fitting.host_fit`` finds the latest end
for which enough hosts are free, and the mapper then maps for exactly that interval. With identical nodes and hosts both
give the same result; otherwise the interval found here is never shorter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import Availability, IntArray
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.fitting.exact_mapping import Attempts, Competition, could_fit, fit_exactly
from lease_scheduler.plan.interfaces import HostsAt, HostSelection, Mapper, Room


class GreedyMapping(Mapper):
    """Fills each host before the next one (haizea F31, F33)."""

    fills_in_order = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Note whether the class still fills hosts in order."""
        super().__init_subclass__(**kwargs)
        if "distribute" in cls.__dict__ and "fills_in_order" not in cls.__dict__:
            cls.fills_in_order = False

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
    attempts: Attempts | None = None,
) -> tuple[int, ...] | None:
    """Return a host for each node for the whole of ``[start, end)``, or None if they do not all fit.

    The selection policy orders the hosts, and the mapper distributes the nodes over them. Where that is a dead end, any
    hosts that the policy has not left out are used, see ``map_sets``.

    :param demands: the demands of the request's node sets
    :param attempts: how many exact mappings a search may try; None means that there is no limit
    :return: host number of each node, in the order of the request's nodes
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
    placed = map_sets(free, demands, ranked, mapper, attempts=attempts)
    return None if placed is None else tuple(np.concatenate(placed).tolist())


def map_sets(
    free: IntArray,
    demands: tuple[Demand, ...],
    ranked: IntArray,
    mapper: Mapper,
    *,
    kept: IntArray | None = None,
    attempts: Attempts | None = None,
) -> list[IntArray] | None:
    """Return the hosts of the nodes of each node set, or None if they do not all fit.

    The policies' choice, with the largest nodes first, can be a dead end if node sets compete for hosts. Then the order
    of the hosts' numbers is tried, then the scarcest node sets first, and in the end ``plan.fitting.exact_mapping``.

    :param free: what is free on each host, shape (classes, hosts)
    :param demands: the nodes that have no host yet; a set may have none of them
    :param ranked: the hosts that may be used, best first
    :param kept: how many nodes of each set hosts have already, shape (sets, hosts); None means that there are none
    :param attempts: see ``map_vms``
    """
    if kept is None:
        kept = np.zeros((len(demands), free.shape[1]), dtype=np.int64)
    by_size = largest_first(demands)
    placed = _filled(free, demands, by_size, ranked, mapper, kept)
    if placed is not None or len(demands) == 1:
        return placed
    if attempts is not None and attempts.are_used_up:
        return _filled(free, demands, by_size, np.sort(ranked), GREEDY, kept)
    places = np.array([places_for(free, demand, held) for demand, held in zip(demands, kept, strict=True)])
    wanted = [index for index, demand in enumerate(demands) if demand.count]
    competition = Competition(
        free[:, ranked],
        np.array([demands[index].amounts for index in wanted]),
        np.array([demands[index].count for index in wanted], dtype=np.int64),
        places[wanted][:, ranked],
    )
    if not could_fit(competition):
        return None
    by_scarcity = sorted(by_size, key=lambda index: places[index, ranked].sum() / max(demands[index].count, 1))
    placed = _filled(free, demands, by_size, np.sort(ranked), GREEDY, kept)
    if placed is None and by_scarcity != by_size:
        placed = _filled(free, demands, by_scarcity, ranked, mapper, kept)
    if placed is None:
        if attempts is not None:
            attempts.left -= 1
        placed = _placed_exactly(competition, wanted, len(demands), ranked)
    return placed


def _placed_exactly(competition: Competition, wanted: list[int], sets: int, ranked: IntArray) -> list[IntArray] | None:
    """Return the hosts of the nodes of each node set, or None.

    :param wanted: the indices of the sets that compete
    :param sets: number of all sets
    """
    taken = fit_exactly(competition)
    if taken is None:
        return None
    placed: list[IntArray] = [np.empty(0, dtype=np.int64)] * sets
    for index, counts in zip(wanted, taken, strict=True):
        placed[index] = ranked.repeat(counts)
    return placed


def _mapped_alike(places: IntArray, count: int, ranked: IntArray, mapper: Mapper) -> tuple[int, ...] | None:
    """Return a host for each of ``count`` identical nodes, taking hosts in the given order, or None.

    :param places: how many of them each host can take
    """
    usable = ranked[places[ranked] > 0]
    taken = distributed(mapper, places[usable], np.zeros(len(usable), dtype=np.int64), count)
    return None if taken is None else tuple(usable[: len(taken)].repeat(taken).tolist())


def _filled(
    free: IntArray, demands: tuple[Demand, ...], order: list[int], ranked: IntArray, mapper: Mapper, kept: IntArray
) -> list[IntArray] | None:
    """Place node sets one after the other; return the hosts of each, or None if one of them does not fit any more.

    :param order: indices of the node sets
    :param ranked: the hosts that may be used, best first
    :param kept: see ``map_sets``
    """
    placed: list[IntArray] = [np.empty(0, dtype=np.int64)] * len(demands)
    present = kept.sum(axis=0)
    free = free.copy()
    for index in order:
        demand = demands[index]
        if not demand.count:
            continue
        places = places_for(free, demand, kept[index])
        usable = ranked[places[ranked] > 0]
        taken = distributed(mapper, places[usable], present[usable], demand.count)
        if taken is None:
            return None
        chosen = usable[: len(taken)]
        placed[index] = chosen.repeat(taken)
        present[chosen] += taken
        free[:, chosen] -= demand.amounts[:, None] * taken
    return placed


def distributed(mapper: Mapper, places: IntArray, present: IntArray, count: int) -> IntArray | None:
    """Return how many of ``count`` nodes each host gets, or None if there are not enough places.

    :param places: how many nodes each host can take, best host first, each at least 1
    :param present: how many nodes of the lease each host has already, same shape
    :return: may be shorter than ``places``; the other hosts get no node
    :raises RuntimeError: the mapper policy returned an invalid distribution
    """
    if int(places.sum()) < count:
        return None
    taken = mapper.distribute(places, present, count)
    if int(taken.sum()) != count or (taken < 0).any() or (taken > places[: len(taken)]).any():
        raise RuntimeError(f"mapper {type(mapper).__name__} gave {taken.tolist()} for {count} nodes")
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


def places_for(free: IntArray, demand: Demand, kept: IntArray | None = None) -> IntArray:
    """Return how many nodes of the demand each host can take.

    :param kept: how many nodes of the same node set each host has already, shape (hosts,); None means that it has none
    """
    fitting = [free[row] // amount for row, amount in enumerate(demand.amounts.tolist()) if amount]
    if not fitting:
        # No host offers any of the needed classes.
        return np.zeros(free.shape[1], dtype=np.int64)
    places: IntArray = fitting[0]
    for other in fitting[1:]:
        np.minimum(places, other, out=places)
    np.maximum(places, 0, out=places)
    if demand.eligible is not None:
        places *= demand.eligible
    if demand.per_host is not None:
        np.minimum(places, demand.per_host if kept is None else np.maximum(demand.per_host - kept, 0), out=places)
    return places


def largest_first(demands: tuple[Demand, ...]) -> list[int]:
    """Return the indices of the node sets by decreasing size of a node, relative to the largest need of each class."""
    if len(demands) == 1:
        return [0]
    amounts = np.array([demand.amounts for demand in demands], dtype=np.float64)
    largest = amounts.max(axis=0)
    size = np.divide(amounts, largest, out=np.zeros(amounts.shape), where=largest > 0).sum(axis=1)
    return [int(index) for index in np.argsort(-size, kind="stable")]
