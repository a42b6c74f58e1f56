"""Availability: the resources in use on every host over time.

Sotomayor 2010, section 4.2.4 calls this the slot table (haizea F28, F29). Here each host has a step function per
resource class. The steps of all hosts are in flat arrays sorted by (host, instant), so a question about all hosts
takes a few whole-array operations. An ``Availability`` is immutable: a change returns a new one, so undoing tentative
changes costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lease_scheduler.plan.capacity.places import Places
from lease_scheduler.plan.capacity.step_edits import with_repeats, without
from lease_scheduler.plan.capacity.steps import FOREVER, TIME_BITS, BoolArray, IntArray, Steps

# Modules and plug-ins that use an availability import these from here.
__all__ = ["FOREVER", "Availability", "BoolArray", "IntArray", "Places"]


class Availability:
    """Use of all hosts as step functions of time: per resource class, and as a number of leases.

    :ivar capacity: shape (classes, hosts), what each host offers
    :ivar classes: names of the resource classes of hosts, for policies; empty if they are not known. Further rows of
        ``capacity`` belong to nested providers
    """

    __slots__ = ("_cache", "_since", "_steps", "_used", "capacity", "classes")

    def __init__(self, capacity: IntArray, classes: tuple[str, ...] = ()) -> None:
        """Create the availability of an empty site.

        :param capacity: shape (classes, hosts)
        """
        hosts = capacity.shape[1]
        self.capacity = capacity
        self.classes = classes
        base: IntArray = np.arange(hosts, dtype=np.int64) << TIME_BITS
        self._steps = Steps(base, base.copy())
        self._used: IntArray = np.zeros((capacity.shape[0] + 1, hosts), dtype=np.int64)
        self._since = 0
        self._cache: dict[Any, Any] = {}

    def _with(self, steps: Steps, used: IntArray, since: int) -> Availability:
        other = object.__new__(Availability)
        other.capacity = self.capacity
        other.classes = self.classes
        other._steps = steps
        other._used = used
        other._since = since
        other._cache = {}
        return other

    @property
    def step_count(self) -> int:
        """Number of steps of all hosts."""
        return len(self._steps.key)

    # -- changes ---------------------------------------------------------------------------------------

    def changed(self, hosts: IntArray, starts: IntArray | int, ends: IntArray | int, amounts: IntArray) -> Availability:
        """Return the availability after adding use in ``[start, end)``; negative amounts release it.

        :param hosts: host numbers, shape (k,); a host may occur several times
        :param starts: first seconds, shape (k,), or one for all
        :param ends: first seconds after the use, shape (k,), or one for all; at most ``FOREVER``
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
        row = hosts << TIME_BITS
        count = len(hosts)
        # Most leases have one interval per host, in the order of the hosts: their steps need no sorting.
        in_order = bool((hosts[1:] > hosts[:-1]).all())
        if in_order:
            marks = np.empty(2 * count, dtype=np.int64)
            np.add(row, starts, out=marks[::2])
            np.add(row, ends, out=marks[1::2])
        else:
            wanted = np.concatenate((row + starts, row + ends))
            marks = np.sort(wanted)
            marks = marks[np.concatenate(([True], marks[1:] != marks[:-1]))]
        key, used = self._steps.key, self._used
        where = key.searchsorted(marks)
        missing = key.take(where, mode="clip") != marks
        if where[-1] == len(key):
            missing |= where == len(key)
        added, before = marks[missing], where[missing]
        if len(added):
            # The position of each mark after the missing ones are inserted.
            where += missing.cumsum() - missing
            # A new step starts with the use of the step before it.
            key, used = with_repeats(key, before), with_repeats(used, before)
            key[where] = marks
        else:
            used = used.copy()
        if in_order:
            first, lengths = where[::2], where[1::2] - where[::2]
            total = lengths.cumsum()
            inside = np.arange(int(total[-1])) + (first - total + lengths).repeat(lengths)
            # Row by row, because numpy is slow when it indexes columns of a matrix.
            for row_used, more in zip(used, amounts.repeat(lengths, axis=1), strict=True):
                row_used[inside] += more
        else:
            difference = np.zeros(used.shape, dtype=np.int64)
            rows = np.arange(used.shape[0])[:, None]
            np.add.at(difference, (rows, key.searchsorted(wanted)), np.concatenate((amounts, -amounts), axis=1))
            used += difference.cumsum(axis=1)
        # Drop steps that do not differ from the one before, or the arrays would grow with every change.
        # The very first step has none before it; it may be later than instant 0 if the past is forgotten.
        inner = where if where[0] > 0 else where[1:]
        # Compare the number of leases first: most steps differ in it.
        inner = inner[used[-1].take(inner) == used[-1].take(inner - 1)]
        idle = inner
        if len(inner):
            previous = inner - 1
            same = (used.take(inner, axis=1) == used.take(previous, axis=1)).all(axis=0)
            idle = inner[same & (key.take(inner) ^ key.take(previous) <= FOREVER)]
        dropped = key[idle]
        if len(idle):
            key, used = without(key, idle), without(used, idle)
        return self._with(self._steps.edited(key, added, dropped), used, self._since)

    def blocked(self, host: int, start: int, end: int, *, back: bool = False) -> Availability:
        """Return the availability with a host taken as a whole in ``[start, end)``, or given back."""
        amounts = np.append(self.capacity[:, host], 0)[:, None] * (-1 if back else 1)
        return self.changed(np.array([host]), np.array([start]), np.array([end]), amounts)

    def taken_until(self, hosts: IntArray, before: IntArray, after: IntArray) -> Availability:
        """Return the availability after changing until when some hosts are taken as a whole.

        :param hosts: host numbers, shape (k,), ascending
        :param before: first instants at which the hosts can be used at present, shape (k,)
        :param after: new first instants at which they can be used, shape (k,); where this is later than ``before``, the
            hosts are taken from ``before`` on
        """
        before, after = np.maximum(before, self._since), np.maximum(after, self._since)
        differs = before != after
        if not differs.all():
            hosts, before, after = hosts[differs], before[differs], after[differs]
        if not len(hosts):
            return self
        moved, is_left = self._with_steps_moved(hosts, before, after)
        if not is_left.any():
            return moved
        hosts, before, after = hosts[is_left], before[is_left], after[is_left]
        amounts = np.zeros((len(self._used), len(hosts)), dtype=np.int64)
        amounts[:-1] = self.capacity[:, hosts] * np.where(after > before, 1, -1)
        return moved.changed(hosts, np.minimum(before, after), np.maximum(before, after), amounts)

    def _with_steps_moved(self, hosts: IntArray, before: IntArray, after: IntArray) -> tuple[Availability, BoolArray]:
        """Move the steps at which hosts that are taken become free, where no other step is in the way.

        Most hosts that sleep have nothing else planned on them, so nothing but the instants of these steps changes.

        :return: the availability, and for which of the hosts this was not possible, shape (k,)
        """
        key, used = self._steps.key, self._used
        base = hosts << TIME_BITS
        old, new = base + before, base + after
        where = key.searchsorted(old)
        previous = np.maximum(where - 1, 0)
        earlier = key.take(previous)
        can_move = (key.take(where, mode="clip") == old) & (where > 0)
        can_move &= (earlier >= base) & (earlier < new)
        can_move &= (where + 1 >= len(key)) | (key.take(where + 1, mode="clip") > new)
        freed = used.take(previous, axis=1) - used.take(where, axis=1, mode="clip")
        can_move &= (freed[:-1] == self.capacity.take(hosts, axis=1)).all(axis=0) & (freed[-1] == 0)
        if not can_move.any():
            return self, ~can_move
        key = key.copy()
        key[where[can_move]] = new[can_move]
        return self._with(self._steps.of(key), used, self._since), ~can_move

    def forgotten(self, before: int) -> Availability:
        """Return the availability without the past. Times before ``before`` can no longer be queried or changed."""
        return self if before <= self._since else self._truncated(before)

    def _truncated(self, before: int) -> Availability:
        key = self._steps.key
        superseded = np.zeros(len(key), dtype=bool)
        superseded[:-1] = (key[1:] >> TIME_BITS == key[:-1] >> TIME_BITS) & (key[1:] & FOREVER <= before)
        keep = ~superseded
        return self._with(self._steps.of(key[keep]), self._used.compress(keep, axis=1), before)

    def within(self, start: int, end: int) -> Availability:
        """Return the part of the availability within an interval. Only the interval can be queried or changed."""
        start = max(start, self._since)
        low = self._steps.position(start)
        counts = self._steps.key.searchsorted(self._steps.base + end) - low
        first = counts.cumsum() - counts
        kept = np.arange(int(counts.sum())) + (low - first).repeat(counts)
        return self._with(self._steps.of(self._steps.key.take(kept)), self._used.take(kept, axis=1), start)

    def unremembered(self) -> Availability:
        """Return the same availability with empty caches, for measurements."""
        return self._with(self._steps.of(self._steps.key), self._used, self._since)

    # -- questions about all hosts ---------------------------------------------------------------------

    def is_unused(self, start: int, end: int) -> BoolArray:
        """Return for each host whether no lease holds anything on it in ``[start, end)``, shape (hosts,)."""
        unused: BoolArray = np.maximum.reduceat(self._used[-1], self._steps.bounds(start, end))[::2] == 0
        return unused

    def peak(self, start: int, end: int) -> IntArray:
        """Return the largest use in ``[start, end)``, shape (classes + 1, hosts)."""
        return np.maximum.reduceat(self._used, self._steps.bounds(start, end), axis=1)[:, ::2]

    def free(self, start: int, end: int) -> IntArray:
        """Return what is free throughout ``[start, end)``, shape (classes, hosts)."""
        return self.capacity - self.peak(start, end)[:-1]

    def free_at(self, instant: int) -> IntArray:
        """Return what is free at the instant, shape (classes, hosts)."""
        return self.capacity - self._used[:-1].take(self._steps.position(instant), axis=1)

    def at(self, instant: int, hosts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the use of some hosts at an instant, and when it changes next.

        :param hosts: host numbers, shape (k,)
        :return: use, shape (classes + 1, k), with the number of leases as last row; and instants, shape (k,), which are
            ``FOREVER`` where the use never changes
        """
        position = self._steps.position(instant)[hosts]
        following = position + 1
        key = self._steps.key.take(following, mode="clip")
        same_host = (following < len(self._steps.key)) & (key >> TIME_BITS == hosts)
        return self._used.take(position, axis=1), np.where(same_host, key & FOREVER, FOREVER)

    def on_host(self, host: int, start: int, end: int) -> tuple[IntArray, IntArray]:
        """Return what is free on a host, as a step function of time.

        :return: instants of shape (k,), ascending, the first one at or before ``start`` and the others before ``end``;
            free amounts of shape (classes, k), negative while leases run on a host that is out of service
        """
        base = int(self._steps.base[host])
        key = self._steps.key
        first = int(key.searchsorted(base + start, side="right")) - 1
        after = int(key.searchsorted(base + end))
        return key[first:after] & FOREVER, self.capacity[:, host, None] - self._used[:-1, first:after]

    def free_in_all(self, since: int) -> tuple[IntArray, IntArray]:
        """Return what is free on all hosts together, as a step function of time from an instant on.

        :return: instants of shape (k,), ascending, the first one being ``since``; free amounts of shape (classes, k)
        """
        known = self.within(since, FOREVER)
        key, hosts = known._steps.key, known._steps.hosts()
        # Free amounts are negative on a host that is out of service while leases still run there.
        free = np.maximum(known.capacity[:, hosts] - known._used[:-1], 0)
        rise = free.copy()
        is_later = hosts[1:] == hosts[:-1]
        rise[:, 1:] -= np.where(is_later, free[:, :-1], 0)
        instants = np.maximum(key & FOREVER, since)
        order = instants.argsort(kind="stable")
        instants, totals = instants[order], rise[:, order].cumsum(axis=1)
        is_last = np.append(instants[1:] != instants[:-1], True)
        return instants[is_last], totals[:, is_last]

    def next_rise(self, hosts: IntArray, after: int) -> int | None:
        """Return the first instant later than ``after`` at which a lease begins to hold one of the hosts, or None.

        :param hosts: host numbers, shape (k,)
        """
        leases, step_hosts = self._used[-1], self._steps.hosts()
        rises = np.zeros(len(leases), dtype=bool)
        rises[1:] = (leases[1:] > leases[:-1]) & (step_hosts[1:] == step_hosts[:-1])
        member = np.zeros(self.capacity.shape[1], dtype=bool)
        member[hosts] = True
        found = self._steps.key[rises & member[step_hosts]] & FOREVER
        found = found[found > after]
        return int(found.min()) if len(found) else None

    def is_full(self, instant: int, needed: BoolArray) -> bool:
        """Return whether, at the instant, each host has nothing free of at least one needed class.

        :param needed: shape (classes,)
        """
        return bool((self.free_at(instant)[needed] <= 0).any(axis=0).all())

    def within_capacity(self) -> bool:
        """Return whether no host is ever used beyond its capacity, except in the past that is forgotten."""
        known = self._truncated(self._since)
        return bool((known._used[:-1] <= known.capacity[:, known._steps.hosts()]).all())

    def equals(self, other: Availability) -> bool:
        """Return whether both are the same at all instants that neither has forgotten."""
        since = max(self._since, other._since)
        mine, theirs = self._truncated(since)._normalised(), other._truncated(since)._normalised()
        return bool(np.array_equal(mine[0], theirs[0]) and np.array_equal(mine[1], theirs[1]))

    def _normalised(self) -> tuple[IntArray, IntArray]:
        """Return keys and use with the first step of each host moved to instant 0."""
        first = self._steps.key.searchsorted(self._steps.base)
        key = self._steps.key.copy()
        key[first] = self._steps.base
        return key, self._used

    # -- questions about a demand ----------------------------------------------------------------------

    def places(self, demand: IntArray, eligible: BoolArray | None = None, per_host: int | None = None) -> Places:
        """Return how many nodes of a demand fit on each host over time.

        The result is cached by the identity of the arrays.

        :param demand: needs of one node, shape (classes,); if all are zero, nothing fits anywhere
        :param eligible: which hosts may be used, shape (hosts,); None means all
        :param per_host: maximum number of nodes on one host; None means as many as fit
        """
        cache_key = (id(demand), id(eligible), per_host)
        found = self._cache.get(cache_key)
        if found is None:
            step_hosts = self._steps.hosts()
            # No row is left if no host offers any of the needed classes: then nothing fits anywhere.
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
            # Keep both arrays alive with the result, or their ids could be reused.
            found = self._cache[cache_key] = (Places(self._steps, counts), demand, eligible)
        return found[0]

    def places_on(self, hosts: IntArray, amounts: IntArray) -> Places:
        """Return where and when given amounts fit on given hosts: one place per host, none on other hosts.

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
