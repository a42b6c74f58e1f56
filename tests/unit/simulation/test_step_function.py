"""Step functions against sums over every second (haizea F84)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.step_function import StepFunction

LENGTH = 40
CHANGES = st.lists(st.tuples(st.integers(-5, LENGTH + 5), st.integers(-9, 9)), max_size=12)


def function_of(changes: list[tuple[int, int]]) -> StepFunction:
    instants = np.array([instant for instant, _ in changes], dtype=np.int64)
    amounts = np.array([amount for _, amount in changes], dtype=np.int64)
    return StepFunction.from_changes(instants, amounts, 0, LENGTH)


def every_second(changes: list[tuple[int, int]]) -> list[int]:
    return [sum(amount for instant, amount in changes if instant <= second) for second in range(LENGTH)]


@given(CHANGES, st.integers(0, LENGTH - 1), st.integers(1, LENGTH))
def test_average_is_the_mean_over_the_seconds(changes: list[tuple[int, int]], begin: int, length: int) -> None:
    end = min(begin + length, LENGTH)
    expected = np.mean(every_second(changes)[begin:end])
    assert function_of(changes).average(begin, end) == pytest.approx(expected, abs=1e-9)


@given(CHANGES)
def test_steps_are_minimal_and_say_what_every_second_holds(changes: list[tuple[int, int]]) -> None:
    steps = function_of(changes)
    assert (np.diff(steps.times) > 0).all()
    assert (np.diff(steps.values) != 0).all()
    position = np.searchsorted(steps.times, np.arange(LENGTH), side="right") - 1
    assert steps.values[position].tolist() == every_second(changes)


@given(CHANGES)
def test_running_average_is_the_mean_so_far(changes: list[tuple[int, int]]) -> None:
    steps = function_of(changes)
    seconds = every_second(changes)
    expected = [np.mean(seconds[: int(time)]) if time else seconds[0] for time in steps.times]
    assert steps.running_averages() == pytest.approx(expected, abs=1e-9)


def test_running_average_at_the_beginning_is_the_value_itself() -> None:
    assert function_of([(0, 3), (10, -1)]).running_averages().tolist() == [3.0, 3.0]


def test_a_step_function_is_zero_outside_its_range() -> None:
    assert function_of([(0, 4)]).average(-LENGTH, 2 * LENGTH) == pytest.approx(4 / 3)


def test_averages_are_given_between_edges() -> None:
    edges = np.array([0.0, 10.0, 20.0, 40.0])
    assert function_of([(5, 2), (20, -1)]).averages(edges).tolist() == [1.0, 2.0, 1.0]


def test_scaled_divides_the_values() -> None:
    scaled = function_of([(0, 3), (7, 3)]).scaled(6)
    assert scaled.values.tolist() == [0.5, 1.0]
    assert (scaled.times.tolist(), scaled.end) == ([0, 7], LENGTH)


def test_an_empty_interval_has_no_average() -> None:
    with pytest.raises(InvalidValueError, match="end: must be after begin"):
        function_of([]).average(5, 5)
