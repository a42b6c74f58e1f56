"""Places: how many nodes of one demand fit on each host over time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lease_scheduler.plan.capacity.steps import FOREVER, MANY_HOSTS, TIME_BITS, IntArray, Steps

#: Hosts with a place are few if they are at most one in this many.
_SPARSE = 8


class Places:
    """How many nodes of one demand fit on each host, as step functions of time.

    Created by ``Availability.places`` and ``Availability.places_on``.
    """

    __slots__ = ("_counts", "_holding", "_steps", "_without")

    def __init__(self, steps: Steps, counts: IntArray) -> None:
        self._steps = steps
        self._counts = counts
        self._holding: dict[int, IntArray] = {}
        self._without: tuple[IntArray, IntArray, IntArray] | None = None

    def holding_times(self, start: int) -> IntArray:
        """Return until when each place that is free at ``start`` stays free, latest first.

        The n-th entry is the latest end of a window ``[start, end)`` in which n nodes of the demand fit at once.
        """
        found = self._holding.get(start)
        if found is None:
            found = self._holding[start] = self._holding_times(start)
        return found

    def _holding_times(self, start: int) -> IntArray:
        slots, key = self._counts, self._steps.key
        low = self._steps.position(start)
        places = slots.take(low)
        useful = places.nonzero()[0]
        if not len(useful):
            return np.empty(0, dtype=np.int64)
        if int(places.max()) == 1 and not self._are_few(useful):
            return self._single_holding_times(low[useful], useful)
        # For each useful host, the steps from the one at ``start`` to its last one, concatenated.
        first, last = low[useful], key.searchsorted(self._steps.base[useful] + (1 << TIME_BITS))
        lengths = last - first
        offsets = lengths.cumsum() - lengths
        steps = np.arange(lengths.sum()) - np.repeat(offsets - first, lengths)
        # A running minimum per host in one pass: the shift puts the values of each host below those of the one before.
        shift = -np.repeat(np.arange(len(useful)), lengths) * (int(places.max()) + 1)
        lowest = np.minimum.accumulate(np.minimum(slots[steps], np.repeat(places[useful], lengths)) + shift) - shift
        lost = np.zeros(len(steps), dtype=np.int64)
        lost[1:] = lowest[:-1] - lowest[1:]
        lost[offsets] = 0
        until = np.repeat(key[steps] & FOREVER, lost)
        never = int(lowest[offsets + lengths - 1].sum())
        until = np.concatenate((until, np.full(never, FOREVER, dtype=np.int64)))
        until.sort()
        return until[::-1]

    def _single_holding_times(self, low: IntArray, hosts: IntArray) -> IntArray:
        """Return the same for hosts with one place each: it is free until the next step without a place."""
        taken, host_of, begins = self._steps_without_places()
        following = taken.searchsorted(low)
        until = np.where(host_of.take(following) == hosts, begins.take(following), FOREVER)
        until.sort()
        return until[::-1]

    def _steps_without_places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the indices, hosts and instants of the steps without a place, with host -1 as sentinel at the end."""
        if self._without is None:
            taken = (self._counts == 0).nonzero()[0]
            host_of: IntArray = np.full(len(taken) + 1, -1, dtype=np.int64)
            begins = np.zeros(len(taken) + 1, dtype=np.int64)
            key = self._steps.key.take(taken)
            np.right_shift(key, TIME_BITS, out=host_of[:-1])
            np.bitwise_and(key, FOREVER, out=begins[:-1])
            self._without = taken, host_of, begins
        return self._without

    def runs(self, count: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield the intervals in which each host has at least one free place, then at least two, and so on.

        :param count: maximum number of places of a host to consider
        :return: for each number of places: host numbers, begins and ends of the intervals, all of shape (runs,)
        """
        slots, key = self._counts, self._steps.key
        step_hosts = self._steps.hosts()
        same_host = step_hosts[1:] == step_hosts[:-1]
        for places in range(1, min(int(slots.max(initial=0)), count) + 1):
            enough = slots >= places
            goes_on = enough[1:] & enough[:-1] & same_host
            is_first, is_last = enough.copy(), enough
            is_first[1:] ^= goes_on
            is_last[:-1] ^= goes_on
            first, last = is_first.nonzero()[0], is_last.nonzero()[0]
            following = np.minimum(last + 1, len(key) - 1)
            ends = (following > last) & (step_hosts.take(following) == step_hosts.take(last))
            until = np.where(ends, key.take(following) & FOREVER, FOREVER)
            yield step_hosts.take(first), key.take(first) & FOREVER, until

    def throughout(self, start: int, end: int) -> int:
        """Return how many nodes fit at once for the whole of ``[start, end)``, each on one host throughout."""
        return int(self.on_hosts(start, end).sum())

    def on_hosts(self, start: int, end: int) -> IntArray:
        """Return how many nodes fit on each host for the whole of ``[start, end)``, shape (hosts,)."""
        counts, steps = self._counts, self._steps
        if len(steps.base) >= MANY_HOSTS:
            found = counts.take(steps.position(start))
            useful = found.nonzero()[0]
            if self._are_few(useful):
                if len(useful):
                    found[useful] = np.minimum.reduceat(counts, steps.bounds(start, end, useful))[::2]
                return found
        return np.minimum.reduceat(counts, steps.bounds(start, end))[::2]

    def _are_few(self, hosts: IntArray) -> bool:
        """Return whether these are so few of all hosts that it pays off to skip the steps of the others."""
        return len(self._steps.base) >= max(MANY_HOSTS, _SPARSE * len(hosts))

    def first_start(self, count: int, length: int, earliest: int) -> int | None:
        """Return the first instant from ``earliest`` on at which ``count`` nodes of the demand could start, or None.

        :param count: number of nodes
        :param length: seconds for which they stay
        """
        opening, closing = [], []
        for _, opened_at, closed_at in self.runs(count):
            begin = np.maximum(opened_at, earliest)
            latest = np.where(closed_at == FOREVER, FOREVER - 1, closed_at - length)
            useful = begin <= latest
            opening.append(begin[useful])
            closing.append(latest[useful])
        begins = np.concatenate(opening) if opening else np.empty(0, dtype=np.int64)
        if len(begins) < count:
            return None
        begins.sort()
        latest_starts = np.concatenate(closing)
        latest_starts.sort()
        # Of equal begins, only the last one is counted with all of them.
        enough = np.arange(1, len(begins) + 1) - latest_starts.searchsorted(begins) >= count
        first = int(enough.argmax())
        return int(begins[first]) if enough[first] else None

    def starts(
        self, count: int, length: int, earliest: int, ready: IntArray | None = None
    ) -> tuple[IntArray, IntArray]:
        """Return how many nodes of the demand could start and stay for ``length`` seconds, by their start.

        :param count: number of nodes needed; no more than this are counted per host
        :param earliest: no start before this instant
        :param ready: shape (hosts,), instant from which each host may be used; None means at once
        :return: instants (ascending, the first is ``earliest``) and the number of nodes that can start from each
            instant until the next one; both of shape (m,)
        """
        opening: list[IntArray] = []
        closing: list[IntArray] = []
        for hosts, opened_at, closed_at in self.runs(count):
            begin = np.maximum(opened_at, earliest)
            if ready is not None:
                begin = np.maximum(begin, ready[hosts])
            latest = np.where(closed_at == FOREVER, FOREVER, closed_at - length + 1)
            useful = begin < latest
            opening.append(begin[useful])
            closing.append(latest[useful])
        instants = np.concatenate([np.array([earliest], dtype=np.int64), *opening, *closing])
        changes = np.ones(len(instants), dtype=np.int64)
        opened = sum(len(part) for part in opening)
        changes[0] = 0
        changes[1 + opened :] = -1
        order = instants.argsort(kind="stable")
        instants, totals = instants[order], changes[order].cumsum()
        last_of_instant = np.append(instants[1:] != instants[:-1], True)
        return instants[last_of_instant], totals[last_of_instant]
