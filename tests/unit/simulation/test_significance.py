"""Significance of differences between runs (contention S9).

Expected values are worked out by hand or taken from the publications that are named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.significance import (
    Interval,
    TestOutcome,
    mean_interval,
    paired_t_test,
    rank_correlation,
    wilcoxon_signed_rank,
)

#: Extra hours of sleep with two drugs, for ten patients (Student 1908, The probable error of a mean).
_FIRST_DRUG = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
_SECOND_DRUG = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_the_paired_t_test_gives_the_published_result() -> None:
    found = paired_t_test(_FIRST_DRUG, _SECOND_DRUG)
    assert found.statistic == pytest.approx(-4.0621, abs=5e-5)
    assert found.p_value == pytest.approx(0.002833, abs=5e-7)


def test_exchanging_the_samples_changes_the_sign_of_t() -> None:
    there, back = paired_t_test(_FIRST_DRUG, _SECOND_DRUG), paired_t_test(_SECOND_DRUG, _FIRST_DRUG)
    assert back == TestOutcome(-there.statistic, there.p_value)


def test_the_interval_of_a_mean_is_that_computed_by_hand() -> None:
    """Mean 3 and variance 2.5 of 1 to 5; t of 4 degrees of freedom is 2.776 at 95 % and 2.132 at 90 %."""
    error = math.sqrt(2.5 / 5)
    wide, narrow = mean_interval([1, 2, 3, 4, 5]), mean_interval([1, 2, 3, 4, 5], 0.9)
    assert (wide.mean, narrow.mean) == (3, 3)
    assert (wide.low, wide.high) == pytest.approx((3 - 2.7764 * error, 3 + 2.7764 * error), abs=1e-4)
    assert (narrow.low, narrow.high) == pytest.approx((3 - 2.1318 * error, 3 + 2.1318 * error), abs=1e-4)


def test_the_interval_of_equal_values_has_no_width() -> None:
    assert mean_interval([7, 7, 7]) == Interval(7, 7, 7)


def test_signed_ranks_are_those_computed_by_hand() -> None:
    """Differences 1, -2, 3, 4, 5: the negative ranks add up to 2, and 3 of 32 orders of signs reach at most 2."""
    found = wilcoxon_signed_rank([1, 0, 3, 4, 5], [0, 2, 0, 0, 0])
    assert found.statistic == 2
    assert found.p_value == pytest.approx(2 * 3 / 32)


def test_signed_ranks_leave_equal_pairs_out() -> None:
    assert wilcoxon_signed_rank([1, 0, 3, 4, 5, 9], [0, 2, 0, 0, 0, 9]) == wilcoxon_signed_rank(
        [1, 0, 3, 4, 5], [0, 2, 0, 0, 0]
    )


def test_equal_samples_have_a_p_value_of_1() -> None:
    assert paired_t_test([1, 2, 3], [1, 2, 3]) == TestOutcome(0.0, 1.0)
    assert wilcoxon_signed_rank([1, 2, 3], [1, 2, 3]) == TestOutcome(0.0, 1.0)


def test_samples_of_constant_difference_have_a_p_value_of_0() -> None:
    assert paired_t_test([1, 2, 3], [2, 3, 4]) == TestOutcome(-math.inf, 0.0)


@pytest.mark.parametrize("compare", [paired_t_test, wilcoxon_signed_rank])
@pytest.mark.parametrize(
    ("first", "second", "field"),
    [
        ([1, 2], [1, 2, 3], "second"),
        ([1], [2], "first"),
        ([1, math.nan], [1, 2], "first"),
        ([1, 2], [1, math.inf], "second"),
    ],
)
def test_samples_that_cannot_be_compared_are_refused(
    compare: Callable[[Sequence[float], Sequence[float]], TestOutcome],
    first: Sequence[float],
    second: Sequence[float],
    field: str,
) -> None:
    with pytest.raises(InvalidValueError) as raised:
        compare(first, second)
    assert raised.value.field == field


@pytest.mark.parametrize(
    ("values", "confidence", "field"), [([1], 0.95, "values"), ([1, 2], 1, "confidence"), ([1, 2], 0, "confidence")]
)
def test_impossible_intervals_are_refused(values: list[float], confidence: float, field: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        mean_interval(values, confidence)
    assert raised.value.field == field


def test_rank_correlation_is_between_minus_1_and_1() -> None:
    assert rank_correlation([1, 2, 3, 4], [10, 20, 25, 70]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [4, 3, 2, -9]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 3, 4], [5, 5, 5, 5]) == 0
    assert rank_correlation([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    with pytest.raises(InvalidValueError, match="second"):
        rank_correlation([1, 2], [1, 2, 3])
