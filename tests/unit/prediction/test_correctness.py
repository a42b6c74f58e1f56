from __future__ import annotations

import pytest

from lease_scheduler.prediction.bounds import Side
from lease_scheduler.prediction.correctness import Correctness


def test_figures_of_a_predictor_are_counted() -> None:
    """Prediction A10."""
    found = Correctness(0.5)
    for actual, quoted in ((10, 10), (20, 10), (0, 5)):
        found.judge(actual, quoted)
    assert found.success_fraction == pytest.approx(2 / 3)
    assert found.mean_ratio == pytest.approx((1 + 0.5) / 2)
    assert found.root_mean_square_error == pytest.approx(((0 + 100 + 25) / 3) ** 0.5)


def test_too_few_observations_do_not_condemn_a_predictor() -> None:
    few, many = Correctness(0.95), Correctness(0.95)
    for place in range(1000):
        for found in (few, many) if place < 10 else (many,):
            found.judge(1, 0 if place % 10 == 0 else 2)
    assert few.is_correct()
    assert not many.is_correct()


def test_a_lower_bound_holds_if_the_observation_is_not_below_it() -> None:
    found = Correctness(0.05, Side.LOWER)
    found.judge(3, 2)
    found.judge(1, 2)
    assert (found.judged, found.held) == (2, 1)


def test_without_observations_a_predictor_is_correct() -> None:
    found = Correctness(0.95)
    assert (found.success_fraction, found.mean_ratio, found.root_mean_square_error) == (1.0, None, None)
    assert found.is_correct()
