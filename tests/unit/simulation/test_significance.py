"""Significance of differences between runs (contention S9).

Expected values are worked out by hand or taken from the publications that are named.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from statistics import NormalDist

import pytest
from scipy import stats

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.significance import (
    Interval,
    Regression,
    TestOutcome,
    levene,
    linear_regression,
    mean_interval,
    paired_t_test,
    rank_correlation,
    shapiro_wilk,
    two_way_anova,
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


def test_shapiro_and_wilk_tell_a_normal_sample_from_one_that_is_not() -> None:
    quantiles = [NormalDist().inv_cdf((number + 0.5) / 40) for number in range(40)]
    assert shapiro_wilk(quantiles).p_value > 0.9
    assert shapiro_wilk([math.exp(2 * value) for value in quantiles]).p_value < 0.001
    assert shapiro_wilk([1.0, 1.0, 1.0]) == TestOutcome(1.0, 1.0)


def test_levene_gives_what_is_computed_by_hand() -> None:
    """Distances from the medians are 1, 0, 1 and 2, 0, 3: F = 1.125 with 1 and 4 degrees of freedom."""
    found = levene([[1, 2, 3], [4, 6, 9]])
    assert found.statistic == pytest.approx(1.125)
    assert found.p_value == pytest.approx(0.3486, abs=5e-5)
    assert levene([[1, 1], [2, 2]]) == TestOutcome(0.0, 1.0)


def test_a_two_way_analysis_of_variance_gives_what_is_computed_by_hand() -> None:
    """Rows differ by 4, columns by 1; within cells the squares add up to 8, with 8 degrees of freedom."""
    cells = {
        ("few", "left"): [1, 2, 3],
        ("few", "right"): [2, 3, 4],
        ("many", "left"): [5, 6, 7],
        ("many", "right"): [6, 7, 8],
    }
    found = two_way_anova(cells)
    assert found.rows == pytest.approx(stats.f.sf(48, 1, 8))
    assert found.columns == pytest.approx(stats.f.sf(3, 1, 8))
    assert found.interaction == pytest.approx(1)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels.formula.api", None)
    cells = {(row, column): [1.0, 2.0] for row in "ab" for column in "xy"}
    with pytest.raises(InvalidValueError, match=r"is not installed; it comes with the extra simulator: pip install"):
        two_way_anova(cells)


def test_a_line_is_fitted_by_least_squares() -> None:
    """Slope 3/5, through the means 2.5 and 2."""
    found = linear_regression([1, 2, 3, 4], [1, 2, 2, 3])
    assert (found.slope, found.intercept) == pytest.approx((0.6, 0.5))
    assert found.correlation == pytest.approx(3 / math.sqrt(10))
    assert linear_regression([1, 2], [5, 5]) == Regression(0.0, 5.0, 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shapiro_wilk([1, 2]), "values: must have at least 3 values, not 2"),
        (lambda: levene([[1, 2]]), "samples: must be at least 2, not 1"),
        (lambda: levene([[1, 2], [1]]), r"samples\[1\]: must have at least 2 values, not 1"),
        (lambda: two_way_anova({("a", "x"): [1, 2], ("a", "y"): [1, 2]}), "rows: must be at least 2, not 1"),
        (
            lambda: two_way_anova({("a", "x"): [1, 2], ("a", "y"): [1, 2], ("b", "x"): [1, 2]}),
            "cells: lacks b, y; each row must have each column",
        ),
        (lambda: linear_regression([1, 1], [1, 2]), "first: must have different values"),
    ],
)
def test_samples_that_cannot_be_tested_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        call()
