"""What every host has in use over time: the skyline that all planning asks.

Sotomayor 2010, section 4.2.4 calls it slot table (haizea F28, F29). Here each host has a step function per
resource class, and the steps of all hosts lie in flat arrays sorted by (host, instant), so that a question
about every host is a handful of whole-array operations. An ``Availability`` never changes: a change gives
a new one, which makes tentative planning free to undo.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_TIME_BITS = 40
#: An instant later than every other; the end of what never ends.
FOREVER = (1 << _TIME_BITS) - 1


class _Steps:
    """Where in the flat arrays the steps of each host stand.

    Apart from the availability, so that what it remembers does not refer to it: both would wait for the collector of
    cycles with all their arrays.
    """

    __slots__ = ("_hosts", "_positions", "base", "key")

    def __init__(self, base: IntArray, key: IntArray) -> None:
        self.base = base
        self.key = key
        self._positions: dict[int, IntArray] = {}
        self._hosts: IntArray | None = None

    def position(self, instant: int) -> IntArray:
        """Index of the step that each host is in at the instant."""
        position = self._positions.get(instant)
        if position is None:
            position = self.key.searchsorted(self.base + instant, side="right") - 1
            self._positions[instant] = position
        return position

    def bounds(self, start: int, end: int) -> IntArray:
        """From which step until before which one each host is in ``[start, end)``, as ``reduceat`` wants it.

        :return: for each host both, one after the other; without the last one if it is the end of all steps
        """
        low = self.position(start)
        bounds = np.empty(2 * len(low), dtype=np.int64)
        bounds[::2] = low
        bounds[1::2] = self.key.searchsorted(self.base + end)
        return bounds[:-1] if bounds[-1] == len(self.key) else bounds

    def hosts(self) -> IntArray:
        """The host of each step."""
        if self._hosts is None:
            self._hosts = self.key >> _TIME_BITS
        return self._hosts


class Availability:
    """The use of every host as step functions of time, per resource class and in number of leases.

    :ivar capacity: shape (classes, hosts), what each host offers
    """

    __slots__ = ("_cache", "_since", "_steps", "_used", "capacity")

    def __init__(self, capacity: IntArray) -> None:
        """An empty site.

        :param capacity: shape (classes, hosts)
        """
        hosts = capacity.shape[1]
        self.capacity = capacity
        base: IntArray = np.arange(hosts, dtype=np.int64) << _TIME_BITS
        self._steps = _Steps(base, base.copy())
        self._used: IntArray = np.zeros((capacity.shape[0] + 1, hosts), dtype=np.int64)
        self._since = 0
        self._cache: dict[Any, Any] = {}

    def _with(self, key: IntArray, used: IntArray, since: int) -> Availability:
        other = object.__new__(Availability)
        other.capacity = self.capacity
        other._steps = _Steps(self._steps.base, key)
        other._used = used
        other._since = since
        other._cache = {}
        return other

    @property
    def step_count(self) -> int:
        """How many steps there are, over all hosts."""
        return len(self._steps.key)

    # -- changes ---------------------------------------------------------------------------------------

    def changed(self, hosts: IntArray, starts: IntArray | int, ends: IntArray | int, amounts: IntArray) -> Availability:
        """The availability after adding use in ``[start, end)``; negative amounts release.

        :param hosts: host numbers, shape (k,); a host may come several times
        :param starts: first seconds, shape (k,), or one for all
        :param ends: first seconds after, shape (k,), or one for all; at most ``FOREVER``
        :param amounts: shape (classes + 1, k); the last row counts leases
        """
        if isinstance(starts, int) and isinstance(ends, int):
            starts = max(starts, self._since)
            if starts >= ends:
                return self
        else:
            starts = np.maximum(starts, self._since)
            alive = np.broadcast_to(starts < ends, hosts.shape)
            if not alive.all():
                hosts, amounts = hosts[alive], amounts[:, alive]
                starts, ends = (np.broadcast_to(each, alive.shape)[alive] for each in (starts, ends))
        if not len(hosts):
            return self
        row = hosts << _TIME_BITS
        count = len(hosts)
        # With one interval a host, in the order of hosts, as a lease has them, the steps are in their order already.
        in_order = bool((hosts[1:] > hosts[:-1]).all())
        if in_order:
            marks = np.empty(2 * count, dtype=np.int64)
            np.add(row, starts, out=marks[::2])
            np.add(row, ends, out=marks[1::2])
        else:
            wanted = np.concatenate((row + starts, row + ends))
            marks = np.unique(wanted)
        key, used = self._steps.key, self._used
        where = key.searchsorted(marks)
        missing = key.take(where, mode="clip") != marks
        if where[-1] == len(key):
            missing |= where == len(key)
        inserted_before = missing.cumsum()
        # Where each mark stands once the missing ones are inserted.
        where += inserted_before - missing
        if inserted_before[-1]:
            # A new step starts at the level of the one before it.
            is_new = np.zeros(len(key) + int(inserted_before[-1]), dtype=np.int64)
            is_new[where[missing]] = 1
            source = np.arange(len(is_new)) - is_new.cumsum()
            key = key.take(source)
            key[where] = marks
            used = used.take(source, axis=1)
        else:
            used = used.copy()
        if in_order:
            first, lengths = where[::2], where[1::2] - where[::2]
            total = lengths.cumsum()
            inside = np.arange(int(total[-1])) + (first - total + lengths).repeat(lengths)
            # Row by row, as numpy is slow with all rows of some columns.
            for row_used, more in zip(used, amounts.repeat(lengths, axis=1), strict=True):
                row_used[inside] += more
        else:
            difference = np.zeros(used.shape, dtype=np.int64)
            rows = np.arange(used.shape[0])[:, None]
            np.add.at(difference, (rows, key.searchsorted(wanted)), np.concatenate((amounts, -amounts), axis=1))
            used += difference.cumsum(axis=1)
        # Steps that changed nothing are dropped, so that the arrays hold what is live and no history of edits.
        # The very first step has none before it, even where the past is forgotten and it is not at instant 0.
        inner = where if where[0] > 0 else where[1:]
        # Most steps differ from the one before in the number of leases already.
        inner = inner[used[-1].take(inner) == used[-1].take(inner - 1)]
        idle = inner
        if len(inner):
            before = inner - 1
            same = (used.take(inner, axis=1) == used.take(before, axis=1)).all(axis=0)
            idle = inner[same & (key.take(inner) ^ key.take(before) <= FOREVER)]
        if len(idle):
            keep = np.ones(len(key), dtype=bool)
            keep[idle] = False
            key, used = key[keep], used.compress(keep, axis=1)
        return self._with(key, used, self._since)

    def forgotten(self, before: int) -> Availability:
        """The availability without the past; nothing may be asked or changed before the instant any more."""
        return self if before <= self._since else self._truncated(before)

    def _truncated(self, before: int) -> Availability:
        key = self._steps.key
        superseded = np.zeros(len(key), dtype=bool)
        superseded[:-1] = (key[1:] >> _TIME_BITS == key[:-1] >> _TIME_BITS) & (key[1:] & FOREVER <= before)
        keep = ~superseded
        return self._with(key[keep], self._used.compress(keep, axis=1), before)

    def within(self, start: int, end: int) -> Availability:
        """The availability of an interval only, which is smaller; nothing may be asked or changed outside of it."""
        start = max(start, self._since)
        low = self._steps.position(start)
        counts = self._steps.key.searchsorted(self._steps.base + end) - low
        first = counts.cumsum() - counts
        kept = np.arange(int(counts.sum())) + (low - first).repeat(counts)
        return self._with(self._steps.key.take(kept), self._used.take(kept, axis=1), start)

    def unremembered(self) -> Availability:
        """The same availability without the answers that it has given so far; for measurements."""
        return self._with(self._steps.key, self._used, self._since)

    # -- questions about all hosts ---------------------------------------------------------------------

    def peak(self, start: int, end: int) -> IntArray:
        """The largest use in ``[start, end)``, shape (classes + 1, hosts)."""
        return np.maximum.reduceat(self._used, self._steps.bounds(start, end), axis=1)[:, ::2]

    def free(self, start: int, end: int) -> IntArray:
        """What no lease uses at any time in ``[start, end)``, shape (classes, hosts)."""
        return self.capacity - self.peak(start, end)[:-1]

    def free_at(self, instant: int) -> IntArray:
        """What no lease uses at the instant, shape (classes, hosts)."""
        return self.capacity - self._used[:-1].take(self._steps.position(instant), axis=1)

    def at(self, instant: int, hosts: IntArray) -> tuple[IntArray, IntArray]:
        """The use of some hosts at an instant, and when it changes next.

        :param hosts: host numbers, shape (k,)
        :return: use of shape (classes + 1, k), the last row counts leases; instants of shape (k,), ``FOREVER`` if never
        """
        position = self._steps.position(instant)[hosts]
        following = position + 1
        key = self._steps.key.take(following, mode="clip")
        same_host = (following < len(self._steps.key)) & (key >> _TIME_BITS == hosts)
        return self._used.take(position, axis=1), np.where(same_host, key & FOREVER, FOREVER)

    def free_in_all(self, since: int) -> tuple[IntArray, IntArray]:
        """What no lease uses on all hosts together, as a step function of time from an instant on.

        :return: instants of shape (k,), ascending, the first one being ``since``; free amounts of shape (classes, k)
        """
        known = self.within(since, FOREVER)
        key, hosts = known._steps.key, known._steps.hosts()
        # A host that is out of service while leases still run there has less than nothing to offer.
        free = np.maximum(known.capacity[:, hosts] - known._used[:-1], 0)
        rise = free.copy()
        is_later = hosts[1:] == hosts[:-1]
        rise[:, 1:] -= np.where(is_later, free[:, :-1], 0)
        instants = np.maximum(key & FOREVER, since)
        order = instants.argsort(kind="stable")
        instants, totals = instants[order], rise[:, order].cumsum(axis=1)
        is_last = np.append(instants[1:] != instants[:-1], True)
        return instants[is_last], totals[:, is_last]

    def is_full(self, instant: int, needed: BoolArray) -> bool:
        """Whether every host has some needed class used up at the instant, or does not offer it.

        :param needed: shape (classes,)
        """
        return bool((self.free_at(instant)[needed] <= 0).any(axis=0).all())

    def within_capacity(self) -> bool:
        """Whether no host is used beyond its capacity at any instant that is not forgotten."""
        known = self._truncated(self._since)
        return bool((known._used[:-1] <= known.capacity[:, known._steps.hosts()]).all())

    def equals(self, other: Availability) -> bool:
        """Whether both say the same at every instant that either still knows."""
        since = max(self._since, other._since)
        mine, theirs = self._truncated(since)._normalised(), other._truncated(since)._normalised()
        return bool(np.array_equal(mine[0], theirs[0]) and np.array_equal(mine[1], theirs[1]))

    def _normalised(self) -> tuple[IntArray, IntArray]:
        """Keys and levels with the first step of each host moved to the beginning of time."""
        first = self._steps.key.searchsorted(self._steps.base)
        key = self._steps.key.copy()
        key[first] = self._steps.base
        return key, self._used

    # -- questions about a demand ----------------------------------------------------------------------

    def places(self, demand: IntArray, eligible: BoolArray | None = None, per_host: int | None = None) -> Places:
        """How many VMs of a demand fit on each host over time.

        The answer is remembered for the very arrays that are given.

        :param demand: shape (classes,), of one VM; if all are zero, nothing fits anywhere
        :param eligible: shape (hosts,), which hosts may be used; all if none
        :param per_host: the most VMs on one host; as many as fit if none
        """
        cache_key = (id(demand), id(eligible), per_host)
        found = self._cache.get(cache_key)
        if found is None:
            step_hosts = self._steps.hosts()
            # What is needed may be classes that no host offers.
            counts: IntArray = np.zeros(len(step_hosts), dtype=np.int64)
            for turn, row in enumerate(demand.nonzero()[0].tolist()):
                fitting = self.capacity[row].take(step_hosts)
                fitting -= self._used[row]
                fitting //= demand[row]
                counts = np.minimum(counts, fitting, out=counts) if turn else fitting
            np.maximum(counts, 0, out=counts)
            if eligible is not None:
                counts *= eligible[step_hosts]
            if per_host is not None:
                np.minimum(counts, per_host, out=counts)
            # Both arrays are kept with the answer so that their ids stay their own.
            found = self._cache[cache_key] = (Places(self._steps, counts), demand, eligible)
        return found[0]

    def places_on(self, hosts: IntArray, amounts: IntArray) -> Places:
        """Where and when given amounts fit on given hosts: one place a host, none elsewhere.

        :param hosts: host numbers, shape (k,), each once
        :param amounts: shape (classes, k)
        """
        wanted = np.zeros_like(self.capacity)
        wanted[:, hosts] = amounts
        member = np.zeros(self.capacity.shape[1], dtype=bool)
        member[hosts] = True
        step_hosts = self._steps.hosts()
        fits = (self._used[:-1] <= (self.capacity - wanted).take(step_hosts, axis=1)).all(axis=0)
        return Places(self._steps, (fits & member[step_hosts]).astype(np.int64))


class Places:
    """How many VMs of one demand fit on each host, as step functions of time.

    Made by ``Availability.places`` and ``Availability.places_on``.
    """

    __slots__ = ("_counts", "_holding", "_steps", "_without")

    def __init__(self, steps: _Steps, counts: IntArray) -> None:
        self._steps = steps
        self._counts = counts
        self._holding: dict[int, IntArray] = {}
        self._without: tuple[IntArray, IntArray, IntArray] | None = None

    def holding_times(self, start: int) -> IntArray:
        """Until when each place that is free at ``start`` stays free, longest first.

        The n-th entry is the latest end of a window ``[start, end)`` in which n VMs of the demand fit at once.
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
        if int(places.max()) == 1:
            return self._single_holding_times(low[useful], useful)
        # Steps from each useful host's current one to its last, as one concatenated range.
        ends = np.append(key.searchsorted(self._steps.base[1:]), len(slots))
        first, last = low[useful], ends[useful]
        lengths = last - first
        offsets = lengths.cumsum() - lengths
        steps = np.arange(lengths.sum()) - np.repeat(offsets - first, lengths)
        # Running minimum per host: hosts are shifted apart so that the next one always starts afresh.
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
        """The same for hosts with one place each, as those are that a VM fills: until the next step without any."""
        taken, host_of, begins = self._steps_without_places()
        following = taken.searchsorted(low)
        until = np.where(host_of.take(following) == hosts, begins.take(following), FOREVER)
        until.sort()
        return until[::-1]

    def _steps_without_places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Steps at which a host has no place: their indexes, hosts and instants; one of no host follows the last."""
        if self._without is None:
            taken = (self._counts == 0).nonzero()[0]
            host_of: IntArray = np.full(len(taken) + 1, -1, dtype=np.int64)
            begins = np.zeros(len(taken) + 1, dtype=np.int64)
            key = self._steps.key.take(taken)
            np.right_shift(key, _TIME_BITS, out=host_of[:-1])
            np.bitwise_and(key, FOREVER, out=begins[:-1])
            self._without = taken, host_of, begins
        return self._without

    def runs(self, count: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """When each host has its first place free without a break, then its second one, and so on.

        :param count: how many places of a host are of interest
        :return: for each place host numbers, instants from which and until which it is free, all of shape (runs,)
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
        """How many VMs fit at once for the whole of ``[start, end)``, each staying where it is."""
        return int(self.on_hosts(start, end).sum())

    def on_hosts(self, start: int, end: int) -> IntArray:
        """How many VMs fit on each host for the whole of ``[start, end)``, shape (hosts,)."""
        return np.minimum.reduceat(self._counts, self._steps.bounds(start, end))[::2]

    def first_start(self, count: int, length: int, earliest: int) -> int | None:
        """The first instant from ``earliest`` on at which so many VMs of the demand could start; none if never.

        :param count: how many VMs are wanted
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
        # Of several that begin together the last one has all of them before it.
        enough = np.arange(1, len(begins) + 1) - latest_starts.searchsorted(begins) >= count
        first = int(enough.argmax())
        return int(begins[first]) if enough[first] else None

    def starts(
        self, count: int, length: int, earliest: int, ready: IntArray | None = None
    ) -> tuple[IntArray, IntArray]:
        """At which instants how many VMs of the demand could start and stay for ``length`` seconds.

        :param count: how many VMs are wanted; more per host than this are not counted
        :param earliest: no start before this instant
        :param ready: shape (hosts,), instant from which each host may be used, if not at once
        :return: instants (ascending, the first is ``earliest``) and the number of VMs that can start from each instant
            until the next one; both of shape (m,)
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
