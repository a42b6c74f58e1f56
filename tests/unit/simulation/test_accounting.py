"""Counters and statistics (haizea F43, section 3.6)."""

from __future__ import annotations

import math

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.accounting import Accounting, Average, Counter, Entry


def test_the_last_of_several_values_of_an_instant_counts() -> None:
    counter = Counter()
    counter.put(0, 1)
    counter.put(5, 2, "a")
    counter.put(5, 3, "b")
    assert counter.entries == [Entry(0, 1), Entry(5, 3, "b")]


def test_equal_values_are_not_kept() -> None:
    counter = Counter()
    for instant, value in ((0, 1), (3, 1), (5, 2), (5, 1), (7, 4)):
        counter.put(instant, value)
    assert counter.entries == [Entry(0, 1), Entry(7, 4)]
    assert counter.value == 4


def test_a_counter_counts_up_and_down() -> None:
    counter = Counter()
    counter.add(2, lease_id="a")
    counter.add(4, -1)
    assert counter.entries == [Entry(2, 1, "a"), Entry(4, 0)]


@pytest.mark.parametrize(
    ("average", "expected"),
    [(Average.NONE, []), (Average.NORMAL, [4.0, 3.0, 4.0]), (Average.TIME_WEIGHTED, [4.0, 4.0, 2.2])],
)
def test_averages_are_plain_or_weighted_by_time(average: Average, expected: list[float]) -> None:
    """10 s of 4 and 90 s of 2: in 100 s an average of 2.2."""
    counter = Counter(average)
    for instant, value in ((0, 4), (10, 2), (100, 6)):
        counter.put(instant, value)
    assert counter.averages() == expected


def test_an_earlier_instant_is_refused() -> None:
    counter = Counter()
    counter.put(5, 1)
    with pytest.raises(InvalidValueError, match="instant: must be at least 5"):
        counter.put(4, 2)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_values_that_no_file_can_hold_are_refused(value: float) -> None:
    accounting = Accounting()
    with pytest.raises(InvalidValueError, match="value: must be a finite number"):
        accounting.create_counter("c").put(0, value)
    with pytest.raises(InvalidValueError, match="speed: must be a text or a finite number"):
        accounting.set_run({"speed": value})
    with pytest.raises(InvalidValueError, match="speed: must be a text or a finite number"):
        accounting.set_lease("1", {"speed": value})


def test_statistics_without_a_value_are_ignored() -> None:
    accounting = Accounting()
    accounting.set_lease("1", {"a": 1, "b": None})
    accounting.set_lease("1", {"c": "x"})
    assert accounting.leases == {"1": {"a": 1, "c": "x"}}


def test_two_counters_of_one_name_are_refused() -> None:
    accounting = Accounting()
    accounting.create_counter("c")
    with pytest.raises(InvalidValueError, match="two probes have a counter 'c'"):
        accounting.create_counter("c")
