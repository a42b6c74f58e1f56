"""The sparse steps of ``Availability`` against a table of every second (haizea F28, F29)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.plan.capacity.availability import FOREVER, Availability, BoolArray, IntArray

_CLASSES = 2
#: The table ends here; the state at this second lasts for ever.
_HORIZON = 24


@dataclass
class _Table:
    """Use of every class and host at every second; the last row counts leases."""

    capacity: IntArray
    used: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.used = np.zeros((_CLASSES + 1, self.capacity.shape[1], _HORIZON + 1), dtype=np.int64)

    def change(self, host: int, start: int, end: int, amounts: IntArray) -> None:
        self.used[:, host, start : min(end, _HORIZON + 1)] += amounts[:, None]

    def places(self, demand: IntArray, eligible: BoolArray) -> IntArray:
        needed = demand > 0
        free = self.capacity[needed][:, :, None] - self.used[:-1][needed]
        counts: IntArray = np.maximum(0, (free // demand[needed][:, None, None]).min(axis=0))
        return counts * eligible[:, None]


_Part = tuple[int, int, int, IntArray]


@st.composite
def _parts(draw: st.DrawFn, hosts: int) -> list[_Part]:
    """Draw several intervals of one change; a host may occur more than once."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, _HORIZON - 1))
        end = draw(st.one_of(st.integers(start + 1, _HORIZON), st.just(FOREVER)))
        amounts = np.array([*(draw(st.integers(0, 2)) for _ in range(_CLASSES)), 1], dtype=np.int64)
        parts.append((draw(st.integers(0, hosts - 1)), start, end, amounts))
    return parts


def _changed(availability: Availability, parts: list[_Part], sign: int) -> Availability:
    hosts, starts, ends = (np.array([part[index] for part in parts], dtype=np.int64) for index in range(3))
    return availability.changed(hosts, starts, ends, sign * np.stack([part[3] for part in parts], axis=1))


@st.composite
def _histories(draw: st.DrawFn) -> tuple[Availability, _Table, int]:
    """Draw an availability with a random history, the same as a table, and the instant before which it is forgotten."""
    hosts = draw(st.integers(1, 4))
    capacity = np.array([[draw(st.integers(0, 4)) for _ in range(hosts)] for _ in range(_CLASSES)], dtype=np.int64)
    availability, table = Availability(capacity), _Table(capacity)
    held: list[list[_Part]] = []
    since = 0
    for _ in range(draw(st.integers(0, 10))):
        action = draw(st.sampled_from(["hold", "hold", "release", "forget", "undo"]))
        if action == "forget":
            since = max(since, draw(st.integers(0, _HORIZON - 1)))
            availability = availability.forgotten(since)
        elif action == "release" and held:
            parts = held.pop(draw(st.integers(0, len(held) - 1)))
            availability = _changed(availability, parts, -1)
            for host, start, end, amounts in parts:
                table.change(host, start, end, -amounts)
        else:
            parts = draw(_parts(hosts))
            changed = _changed(availability, parts, 1)
            if action == "undo":
                # A change makes a new value, so keeping the old value undoes the change.
                assert _changed(changed, parts, -1).equals(availability)
                continue
            availability = changed
            held.append(parts)
            for host, start, end, amounts in parts:
                table.change(host, start, end, amounts)
    return availability, table, since


def _until(places: IntArray, host: int, number: int, start: int) -> int:
    """Return until when that many places of a host stay free."""
    taken = np.flatnonzero(places[host, start:] < number)
    return start + int(taken[0]) if len(taken) else FOREVER


@settings(max_examples=250, deadline=None)
@given(_histories(), st.data())
def test_use_equals_that_of_a_table_by_seconds(history: tuple[Availability, _Table, int], data: st.DataObject) -> None:
    """haizea F28: peaks, free amounts, leases and the next change of every host."""
    availability, table, since = history
    start = data.draw(st.integers(since, _HORIZON - 1))
    end = data.draw(st.integers(start + 1, _HORIZON + 1))

    peak = table.used[:, :, start:end].max(axis=2)
    np.testing.assert_array_equal(availability.peak(start, end), peak)
    np.testing.assert_array_equal(availability.free(start, end), table.capacity - peak[:-1])
    np.testing.assert_array_equal(availability.free_at(start), table.capacity - table.used[:-1, :, start])
    some = np.array(sorted(data.draw(st.sets(st.integers(0, table.capacity.shape[1] - 1)))), dtype=np.int64)
    used, changing = availability.at(start, some)
    np.testing.assert_array_equal(used, table.used[:, some, start])
    interval = availability.within(start, end)
    np.testing.assert_array_equal(interval.peak(start, end), peak)
    extra = np.ones((_CLASSES + 1, len(some)), dtype=np.int64)
    changed, interval = (each.changed(some, start, end, extra) for each in (availability, interval))
    np.testing.assert_array_equal(interval.peak(start, end), changed.peak(start, end))
    needed = np.array(data.draw(st.lists(st.booleans(), min_size=len(table.capacity), max_size=len(table.capacity))))
    full = ((table.capacity - table.used[:-1, :, start])[needed] <= 0).any(axis=0).all()
    assert availability.is_full(start, needed) == full
    within = (table.used[:-1, :, since:] <= table.capacity[:, :, None]).all()
    assert availability.within_capacity() == within
    for host, instant in zip(some.tolist(), changing.tolist(), strict=True):
        changes = np.flatnonzero((table.used[:, host, start:] != table.used[:, host, start, None]).any(axis=0))
        assert instant == (start + int(changes[0]) if len(changes) else FOREVER)


@given(_histories(), st.data())
def test_taken_until_equals_taking_hosts_until_then(
    history: tuple[Availability, _Table, int], data: st.DataObject
) -> None:
    """contention F60: wherever it moves and whatever leases hold there, it is as if hosts had been taken until then."""
    availability, table, now = history
    hosts = np.array(sorted(data.draw(st.sets(st.integers(0, table.capacity.shape[1] - 1)))), dtype=np.int64)
    amounts = np.concatenate((table.capacity[:, hosts], np.zeros((1, len(hosts)), dtype=np.int64)))
    instants = st.one_of(st.integers(now, _HORIZON), st.just(FOREVER))
    before, taken = np.full(len(hosts), now, dtype=np.int64), availability
    for _ in range(data.draw(st.integers(1, 3))):
        after = np.array([data.draw(instants) for _ in hosts], dtype=np.int64)
        before, taken = after, taken.taken_until(hosts, before, after)
        expected = availability.changed(hosts, np.full(len(hosts), now, dtype=np.int64), after, amounts)
        assert taken.equals(expected)
        assert taken.step_count == expected.step_count
    start = data.draw(st.integers(now, _HORIZON - 1))
    is_unused = table.used[-1, :, start:].max(axis=1) == 0
    np.testing.assert_array_equal(taken.is_unused(start, FOREVER), is_unused)


@settings(max_examples=250, deadline=None)
@given(_histories(), st.data())
def test_places_and_starts_equal_those_of_a_table_by_seconds(
    history: tuple[Availability, _Table, int], data: st.DataObject
) -> None:
    """haizea F29, F48: how long places last, and when windows open, with hosts that are ready later than others."""
    availability, table, since = history
    hosts = table.capacity.shape[1]
    demand = np.array([data.draw(st.integers(0, 2)), data.draw(st.integers(1, 2))], dtype=np.int64)
    eligible = np.array(data.draw(st.lists(st.booleans(), min_size=hosts, max_size=hosts)))
    start = data.draw(st.integers(since, _HORIZON - 1))
    expected = table.places(demand, eligible)
    places = availability.places(demand, eligible)

    untils = [
        _until(expected, host, number, start)
        for host in range(hosts)
        for number in range(1, int(expected[host, start]) + 1)
    ]
    assert places.holding_times(start).tolist() == sorted(untils, reverse=True)

    length = data.draw(st.integers(1, 8))
    count = data.draw(st.integers(1, 4))
    ready = data.draw(st.none() | st.lists(st.integers(0, _HORIZON), min_size=hosts, max_size=hosts).map(np.array))
    _assert_starts(places.starts(count, length, start, ready), expected, count, length, start, ready)
    instants, totals = places.starts(count, length, start)
    assert places.first_start(count, length, start) == next(iter(instants[totals >= count].tolist()), None)


@settings(max_examples=150, deadline=None)
@given(_histories(), st.data())
def test_places_on_given_hosts_equal_those_of_a_table_by_seconds(
    history: tuple[Availability, _Table, int], data: st.DataObject
) -> None:
    """haizea F53: a suspended lease that can be resumed only on its former hosts."""
    availability, table, since = history
    hosts = np.array(sorted(data.draw(st.sets(st.integers(0, table.capacity.shape[1] - 1), min_size=1))))
    amounts = np.array([[data.draw(st.integers(0, 3)) for _ in hosts] for _ in range(_CLASSES)], dtype=np.int64)
    start = data.draw(st.integers(since, _HORIZON - 1))
    length = data.draw(st.integers(1, 8))
    free = table.capacity[:, hosts, None] - table.used[:-1, hosts]
    expected: IntArray = (free >= amounts[:, :, None]).min(axis=0).astype(np.int64)
    places = availability.places_on(hosts, amounts)

    untils = [_until(expected, index, 1, start) for index in range(len(hosts)) if expected[index, start]]
    assert places.holding_times(start).tolist() == sorted(untils, reverse=True)
    _assert_starts(places.starts(len(hosts), length, start), expected, len(hosts), length, start, None)


def _assert_starts(
    found: tuple[IntArray, IntArray], places: IntArray, count: int, length: int, start: int, ready: Any
) -> None:
    instants, totals = found
    assert instants[0] == start
    assert (np.diff(instants) > 0).all()
    padded = np.pad(places, ((0, 0), (0, length)), mode="edge")
    for instant in range(start, _HORIZON + 1):
        total = sum(
            min(count, int(padded[host, instant : instant + length].min()))
            for host in range(len(places))
            if ready is None or instant >= ready[host]
        )
        assert totals[instants.searchsorted(instant, side="right") - 1] == total, instant
