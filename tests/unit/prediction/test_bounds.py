from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bounds import Side, clopper_pearson, least_count, lower_rank, upper_rank


@pytest.mark.parametrize(
    ("count", "upper_95", "upper_99", "lower_05", "lower_2236", "lower_01"),
    [
        (58, None, None, None, 8, None),
        (59, 59, None, 1, 8, None),
        (100, 99, None, 2, 16, None),
        (200, 196, None, 5, 35, None),
        (500, 484, 499, 17, 97, 2),
        (1000, 962, 996, 39, 202, 5),
        (2000, 1917, 1988, 84, 417, 13),
        (10000, 9537, 9917, 464, 2168, 84),
    ],
)
def test_ranks_equal_those_of_the_golden_table(
    count: int, upper_95: int | None, upper_99: int | None, lower_05: int, lower_2236: int, lower_01: int
) -> None:
    """Prediction A5, the golden table of 4.2.1."""
    assert upper_rank(count, 0.95, 0.95) == upper_95
    assert upper_rank(count, 0.99, 0.95) == upper_99
    assert lower_rank(count, 0.05, 0.95) == lower_05
    assert lower_rank(count, 0.2236, 0.95) == lower_2236
    assert lower_rank(count, 0.01, 0.95) == lower_01


@pytest.mark.parametrize(
    ("quantile", "at_95", "at_99"),
    [(0.5, 5, 7), (0.75, 11, 17), (0.9, 29, 44), (0.95, 59, 90), (0.975, 119, 182), (0.99, 299, 459)],
)
def test_least_counts_of_upper_bounds_are_the_smallest_with_a_bound(quantile: float, at_95: int, at_99: int) -> None:
    """Prediction A5."""
    assert (least_count(quantile, 0.95), least_count(quantile, 0.99)) == (at_95, at_99)


@pytest.mark.parametrize(
    ("quantile", "at_95", "at_99"),
    [(0.25, 11, 17), (0.2236, 12, 19), (0.1, 29, 44), (0.05, 59, 90), (0.025, 119, 182), (0.01, 299, 459)],
)
def test_least_counts_of_lower_bounds_are_the_smallest_with_a_bound(quantile: float, at_95: int, at_99: int) -> None:
    """Prediction A5."""
    assert least_count(quantile, 0.95, Side.LOWER) == at_95
    assert least_count(quantile, 0.99, Side.LOWER) == at_99


def test_without_observations_there_is_no_bound() -> None:
    assert upper_rank(0, 0.95, 0.95) is None
    assert lower_rank(0, 0.05, 0.95) is None


@pytest.mark.parametrize("value", [0, 1, -0.5, 1.5])
def test_probabilities_must_lie_between_0_and_1(value: float) -> None:
    with pytest.raises(InvalidValueError, match="quantile: must be more than 0 and less than 1"):
        upper_rank(100, value, 0.95)
    with pytest.raises(InvalidValueError, match="confidence"):
        upper_rank(100, 0.95, value)


def test_limits_of_a_proportion_equal_published_ones() -> None:
    """The rule of three, and the published interval of 8 of 20 at 95 % on both sides."""
    assert clopper_pearson(0, 59, 0.95)[0] == 0
    assert clopper_pearson(0, 59, 0.95)[1] == pytest.approx(1 - 0.05 ** (1 / 59))
    low, high = clopper_pearson(8, 20, 0.975)
    assert low == pytest.approx(0.1912, abs=1e-4)
    assert high == pytest.approx(0.6395, abs=1e-4)
    assert clopper_pearson(5, 5, 0.95)[1] == 1.0
    assert clopper_pearson(0, 0, 0.95) == (0.0, 1.0)
    with pytest.raises(InvalidValueError, match="successes"):
        clopper_pearson(6, 5, 0.95)
