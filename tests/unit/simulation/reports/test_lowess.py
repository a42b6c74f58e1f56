"""Lowess against the published example and its invariants (Cleveland 1979)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.reports.lowess import lowess

# Speeds and stopping distances of 50 cars (Ezekiel 1930).
SPEED = np.repeat(
    np.array([4.0, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 25]),
    [2, 2, 1, 1, 3, 2, 4, 4, 4, 3, 2, 3, 4, 3, 5, 1, 1, 4, 1],
)
DISTANCE = np.array(
    [
        *(2.0, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26),
        *(54.0, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85),
    ]
)
# The output of R's lowess() for them.
CURVE = [
    *(4.965459, 13.124495, 15.858633, 18.579691, 21.280313, 24.129277, 27.119549, 30.027276, 32.962506, 36.757728),
    *(40.435075, 43.463492, 46.885479, 50.793152, 56.491224, 67.585824, 73.079695, 78.643164, 84.328698),
]


def test_a_known_example_has_its_published_curve() -> None:
    x, curve = lowess(SPEED, DISTANCE)
    assert x.tolist() == sorted(set(SPEED.tolist()))
    assert curve == pytest.approx(CURVE, abs=1e-6)


@given(
    st.lists(st.integers(0, 1_000), min_size=1, max_size=40),
    st.floats(-5, 5),
    st.floats(-100, 100),
    st.sampled_from([0.1, 0.5, 1.0]),
)
def test_a_straight_line_stays_one(abscissas: list[int], slope: float, offset: float, fraction: float) -> None:
    """Except for pieces of less than a thousandth of the whole, which are level: 40 points may distort such a piece."""
    x = np.array(abscissas, dtype=np.float64)
    where, curve = lowess(x, offset + slope * x, fraction, iterations=0)
    tolerance = 1e-6 + abs(slope) * float(np.ptp(x)) * 0.001 * np.sqrt(40)
    assert curve == pytest.approx(offset + slope * where, abs=tolerance)


def test_rounding_errors_are_no_outliers() -> None:
    x = np.array([0.0, 1.0, 237.0])
    assert lowess(x, x, fraction=1.0)[1] == pytest.approx(x, abs=0.01)


@given(st.permutations(range(len(SPEED))))
def test_the_order_of_points_does_not_matter(order: list[int]) -> None:
    assert lowess(SPEED[order], DISTANCE[order])[1] == pytest.approx(CURVE, abs=1e-6)


def test_outliers_lose_their_weight() -> None:
    x = np.arange(60.0)
    y = 2 * x + np.tile([0.5, -0.5], 30)
    y[30] = 5_000
    assert np.abs(lowess(x, y)[1] - 2 * x).max() < 1
    assert np.abs(lowess(x, y, iterations=0)[1] - 2 * x).max() > 100


def test_points_at_one_abscissa_have_their_robust_mean() -> None:
    x, curve = lowess(np.full(5, 3.0), np.array([1.0, 2, 3, 4, 1_000]))
    assert x.tolist() == [3.0]
    assert 1 < curve[0] < 4


def test_one_point_is_its_own_curve() -> None:
    assert [values.tolist() for values in lowess(np.array([2.0]), np.array([7.0]))] == [[2.0], [7.0]]


def test_many_points_are_thinned_out_and_both_ends_stay() -> None:
    x = np.linspace(-1, 1, 3_000)
    where, curve = lowess(x, x**2, fraction=0.1, iterations=0)
    assert len(where) <= 502
    assert (where[0], where[-1]) == (-1, 1)
    assert curve == pytest.approx(where**2, abs=0.01)


@pytest.mark.parametrize(
    ("x", "y", "options", "problem"),
    [
        ([], [], {}, "x: and y must be two equally long rows of points"),
        ([1.0, 2.0], [1.0], {}, "x: and y must be two equally long rows of points"),
        ([1.0, np.nan], [1.0, 2.0], {}, "x: and y must be finite"),
        ([1.0, 2.0], [1.0, np.inf], {}, "x: and y must be finite"),
        ([1.0], [1.0], {"fraction": 0.0}, "fraction: must be more than 0 and at most 1"),
        ([1.0], [1.0], {"fraction": 1.1}, "fraction: must be more than 0 and at most 1"),
        ([1.0], [1.0], {"iterations": -1}, "iterations: must be at least 0"),
    ],
)
def test_bad_input_is_refused(x: list[float], y: list[float], options: dict[str, float], problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        lowess(np.array(x), np.array(y), **options)  # type: ignore[arg-type]
