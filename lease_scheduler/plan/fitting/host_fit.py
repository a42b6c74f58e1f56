"""Host fit: on which hosts a lease can be placed, and for how long."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import FOREVER, Availability, IntArray, Places
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.exact_mapping import Attempts
from lease_scheduler.plan.fitting.image_constraints import only_on
from lease_scheduler.plan.fitting.mapper import map_vms


class HostFit(Protocol):
    """A way to choose hosts for a lease."""

    def fit(self, start: int, shortest: int, longest: int) -> tuple[tuple[int, ...], int] | None:
        """Return hosts that are free from ``start`` on for as long as possible, or None.

        :param shortest: minimum seconds that they must be free
        :param longest: maximum seconds that are needed
        :return: host number of each node, and the end of the interval
        """
        ...

    def starts(self, earliest: int, length: int) -> IntArray:
        """Return the instants from ``earliest`` on at which a window of ``length`` seconds may open, ascending.

        These are the instants at which hosts become free; between two of them nothing new becomes possible.
        """
        ...


@dataclass(frozen=True)
class Anywhere:
    """Any hosts that satisfy the lease's node sets, in the order of the host selection policy.

    :ivar ready: shape (hosts,), instant from which each host may be used; None means at once
    :ivar attempts: how many exact mappings may be tried for node sets that compete for hosts; None means any number
    """

    context: PlanningContext
    request: LeaseRequest
    ready: IntArray | None = None
    attempts: Attempts | None = None

    def fit(self, start: int, shortest: int, longest: int) -> tuple[tuple[int, ...], int] | None:
        """See ``HostFit.fit``."""
        plan = self.context.plan
        demands = self._demands(start)
        end = start + longest
        # For an interval of a fixed length the mapper alone decides whether it is free.
        if shortest < longest:
            end = min(end, latest_end(plan.availability, demands, start))
            if end - start < shortest:
                return None
        assignment = self._map(demands, start, end)
        if assignment is None and shortest < end - start:
            return self._fit_shorter(demands, start, start + shortest, end)
        return None if assignment is None else (assignment, end)

    def starts(self, earliest: int, length: int) -> IntArray:
        """See ``HostFit.starts``."""
        plan = self.context.plan
        return starts_on(plan.availability, plan.demands(self.request), earliest, length, self.ready)

    def first_start(self, earliest: int, length: int) -> int | None:
        """Return the first of ``starts``, or None; hosts must be usable at once."""
        plan = self.context.plan
        return first_start_on(plan.availability, plan.demands(self.request), earliest, length)

    def _demands(self, start: int) -> tuple[Demand, ...]:
        """Return the demands, restricted to hosts that may be used at the instant."""
        demands = self.context.plan.demands(self.request)
        if self.ready is None:
            return demands
        usable = self.ready <= start
        return demands if usable.all() else only_on(demands, usable)

    def _map(self, demands: tuple[Demand, ...], start: int, end: int) -> tuple[int, ...] | None:
        context = self.context
        availability = context.plan.availability
        return map_vms(
            availability, self.request, demands, start, end, context.selection, context.mapper, self.attempts
        )

    def _fit_shorter(
        self, demands: tuple[Demand, ...], start: int, shortest_end: int, end: int
    ) -> tuple[tuple[int, ...], int] | None:
        """Return hosts with the latest end at which all node sets fit together, by bisection, or None."""
        found = self._map(demands, start, shortest_end)
        if found is None:
            return None
        low, high = shortest_end, end
        best = found, low
        while high - low > 1:
            middle = (low + high) // 2
            assignment = self._map(demands, start, middle)
            if assignment is None:
                high = middle
            else:
                low = middle
                best = assignment, middle
        return best


@dataclass(frozen=True)
class InPlace:
    """The hosts that have the saved memory of a suspended lease."""

    context: PlanningContext
    request: LeaseRequest
    saved_on: tuple[int, ...]

    def fit(self, start: int, shortest: int, longest: int) -> tuple[tuple[int, ...], int] | None:
        """See ``HostFit.fit``."""
        hosts, amounts = self.context.plan.holding(self.request, self.saved_on)
        times = self.context.plan.availability.places_on(hosts, amounts[:-1]).holding_times(start)
        if len(times) < len(hosts):
            return None
        end = min(start + longest, int(times[-1]))
        return None if end - start < shortest else (self.saved_on, end)

    def starts(self, earliest: int, length: int) -> IntArray:
        """See ``HostFit.starts``."""
        hosts, amounts = self.context.plan.holding(self.request, self.saved_on)
        places = self.context.plan.availability.places_on(hosts, amounts[:-1])
        instants, totals = places.starts(len(hosts), length, earliest)
        return instants[totals >= len(hosts)]


def last_again(
    candidates: Iterable[tuple[int, HostFit]], attempts: Attempts, latest: int | None = None
) -> Iterator[tuple[int, HostFit]]:
    """Yield the instants of a search, and the last of them again if exact mappings were left out.

    So a search over many instants tries few exact mappings, yet finds a place if there is one at the last instants,
    when the present leases are over.

    :param candidates: the instants in ascending order, each with the way to choose hosts then
    :param attempts: the exact mappings that these may try
    :param latest: the last acceptable instant; None means that there is no limit
    """
    allowed = attempts.left
    last: deque[tuple[int, HostFit]] = deque(maxlen=allowed)
    for candidate in candidates:
        if latest is None or candidate[0] <= latest:
            last.append(candidate)
            yield candidate
    if attempts.are_missing:
        attempts.left = allowed
        yield from last


def starts_on(
    availability: Availability,
    demands: tuple[Demand, ...],
    earliest: int,
    length: int,
    ready: IntArray | None = None,
) -> IntArray:
    """Return the instants from ``earliest`` on at which a window of ``length`` seconds may open, ascending."""
    if not demands:
        return np.array([earliest], dtype=np.int64)
    steps = [
        (_places(availability, demand).starts(demand.count, length, earliest, ready), demand.count)
        for demand in demands
    ]
    if len(steps) == 1:
        (instants, totals), count = steps[0]
        return instants[totals >= count]
    instants = np.unique(np.concatenate([step_instants for (step_instants, _), _ in steps]))
    possible = np.ones(len(instants), dtype=bool)
    for (step_instants, totals), count in steps:
        possible &= totals[step_instants.searchsorted(instants, side="right") - 1] >= count
    return instants[possible]


def first_start_on(availability: Availability, demands: tuple[Demand, ...], earliest: int, length: int) -> int | None:
    """Return the first instant from ``earliest`` on at which a window of ``length`` seconds may open, or None."""
    if len(demands) == 1:
        return _places(availability, demands[0]).first_start(demands[0].count, length, earliest)
    starts = starts_on(availability, demands, earliest, length)
    return int(starts[0]) if len(starts) else None


def latest_end(availability: Availability, demands: tuple[Demand, ...], start: int) -> int:
    """Return the latest instant until which each node set by itself fits from ``start`` on.

    It is ``start`` itself if one of them does not fit.
    """
    latest = FOREVER
    for demand in demands:
        times = _places(availability, demand).holding_times(start)
        if len(times) < demand.count:
            return start
        latest = min(latest, int(times[demand.count - 1]))
    return latest


def longest_windows(availability: Availability, demand: Demand, starts: Iterable[int]) -> list[int]:
    """Return for how many seconds n nodes of a node set fit from one of the starts on, for n = 1, 2, ..."""
    windows: IntArray = np.zeros(0, dtype=np.int64)
    for start in starts:
        lengths = _places(availability, demand).holding_times(start) - start
        longer, shorter = (windows, lengths) if len(windows) >= len(lengths) else (lengths, windows)
        np.maximum(longer[: len(shorter)], shorter, out=longer[: len(shorter)])
        windows = longer
    return cast(list[int], windows.tolist())


def _places(availability: Availability, demand: Demand) -> Places:
    return availability.places(demand.amounts, demand.eligible, demand.per_host)
