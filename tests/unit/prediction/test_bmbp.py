from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.bounds import Side


def _autoregressive(correlation: float, seed: int, count: int = 4000) -> list[float]:
    noise = np.random.default_rng(seed).standard_normal(count)
    series = [float(noise[0])]
    for each in noise[1:]:
        series.append(correlation * series[-1] + math.sqrt(1 - correlation**2) * float(each))
    return series


def _covered(values: list[float], *, detect_changes: bool = True) -> tuple[float, int]:
    """Return the share of values within their bounds, and the number of changes found."""
    predictor = Bmbp(window=None, detect_changes=detect_changes)
    judged = held = changes = 0
    for value in values:
        bound = predictor.bound()
        if bound is not None:
            judged += 1
            held += value <= bound
        changes += predictor.observe(value)
    return held / judged, changes


@pytest.mark.parametrize("correlation", [0, 0.5, 0.9])
def test_bounds_of_stationary_series_have_the_stated_coverage(correlation: float) -> None:
    """Prediction A10: four series of 4,000 log-normal observations each."""
    found = [_covered([math.exp(each) for each in _autoregressive(correlation, seed)]) for seed in range(4)]
    assert np.mean([covered for covered, _ in found]) >= 0.94
    if correlation == 0:
        assert max(changes for _, changes in found) <= 2


def test_bounds_keep_their_coverage_when_the_scale_changes() -> None:
    """Prediction A10: times 5 in the middle, which the binomial method alone does not notice."""
    series = [
        [math.exp(0.75 * each) * (5 if place >= 2000 else 1) for place, each in enumerate(_autoregressive(0, seed))]
        for seed in range(4)
    ]
    assert np.mean([_covered(each)[0] for each in series]) >= 0.94
    assert np.mean([_covered(each, detect_changes=False)[0] for each in series]) < 0.90


@pytest.mark.parametrize("window", [None, 2000])
@pytest.mark.parametrize("seed", range(10))
def test_a_step_is_noticed_within_10_observations(seed: int, window: int | None) -> None:
    """Prediction section 9, 2: a spread of 0.5, so that most values after the step are above the bound."""
    predictor = Bmbp(window=window)
    values = [math.exp(0.5 * each) * (5 if place >= 2000 else 1) for place, each in enumerate(_autoregressive(0, seed))]
    changes, after = [], []
    for place, value in enumerate(values):
        bound = predictor.bound()
        if place >= 2010 and bound is not None:
            after.append(value <= bound)
        if predictor.observe(value):
            changes.append(place)
    assert any(2000 <= place < 2010 for place in changes)
    assert np.mean(after) >= 0.94


def test_a_bound_that_became_far_too_loose_is_noticed() -> None:
    predictor = Bmbp(window=None)
    values = [math.exp(each) for each in _autoregressive(0, 1, 2000)]
    for value in values:
        predictor.observe(value)
    before = predictor.bound()
    changes = [predictor.observe(value / 100) for value in values[:400]]
    assert any(changes)
    after = predictor.bound()
    assert before is not None
    assert after is not None
    assert after < before / 10


def test_a_window_equals_everything_as_long_as_it_is_not_full() -> None:
    limited, unlimited = Bmbp(window=4000), Bmbp(window=None)
    for value in _autoregressive(0.6, 5):
        assert limited.bound() == unlimited.bound()
        assert limited.observe(value) == unlimited.observe(value)


def test_a_lower_bound_is_the_mirror_image_of_an_upper_one() -> None:
    lower, upper = Bmbp(0.05, side=Side.LOWER), Bmbp(0.95)
    for value in _autoregressive(0, 2, 300):
        lower.observe(value)
        upper.observe(-value)
    assert upper.bound() is not None
    assert lower.bound() == -(upper.bound() or 0)


def test_the_first_bound_is_the_largest_of_59() -> None:
    predictor = Bmbp()
    for value in range(58):
        predictor.observe(value)
    assert predictor.bound() is None
    predictor.observe(58)
    assert (predictor.bound(), predictor.least, len(predictor)) == (58, 59, 59)


def test_the_bound_of_one_repeated_value_is_that_value() -> None:
    predictor = Bmbp()
    for _ in range(1000):
        predictor.observe(7)
    assert predictor.bound() == 7


def test_an_observation_is_judged_by_the_bound_quoted_for_it() -> None:
    """Prediction A6: two predictors with the same observations, of which one is judged by bounds quoted long ago."""
    present, told = Bmbp(), Bmbp()
    for value in _autoregressive(0, 4, 200):
        present.observe(value)
        told.observe(value)
    for _ in range(20):
        assert not present.observe(0)
    changes = [told.observe(0, quoted=-1) for _ in range(20)]
    assert any(changes)


def test_a_restored_predictor_goes_on_as_the_first_one() -> None:
    values = [
        math.exp(0.5 * each) * (5 if place >= 300 else 1) for place, each in enumerate(_autoregressive(0, 8, 500))
    ]
    first = Bmbp(window=200)
    for place, value in enumerate(values):
        if place % 37 == 0:
            second = Bmbp(window=200)
            second.restore(first.state())
            first = second
        first.observe(value)
    uninterrupted = Bmbp(window=200)
    for value in values:
        uninterrupted.observe(value)
    assert first.state() == uninterrupted.state()
    assert first.bound() == uninterrupted.bound()


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="window: must be at least 59"):
        Bmbp(window=58)
    with pytest.raises(InvalidValueError, match="value: must be finite"):
        Bmbp().observe(math.nan)
    with pytest.raises(InvalidValueError, match="state"):
        Bmbp().restore({"values": ["many"]})


@pytest.mark.parametrize(
    "damage",
    [{"values": [1.0, math.nan]}, {"values": [math.inf]}, {"misses": math.nan}, {"hits": math.inf}, {"hits": -1}],
)
def test_a_state_that_is_damaged_is_refused_and_changes_nothing(damage: dict[str, Any]) -> None:
    """Python's JSON has NaN and Infinity, and a NaN among ordered values would make every later bound wrong."""
    predictor = Bmbp()
    for value in range(80):
        predictor.observe(value)
    before = predictor.state()
    with pytest.raises(InvalidValueError, match="state"):
        predictor.restore({**before, **damage})
    assert predictor.state() == before


@pytest.mark.parametrize("quantile", [0.5, 0.75, 0.9])
def test_independent_observations_are_not_taken_for_changes_at_low_quantiles(quantile: float) -> None:
    """Prediction A8: else the history is always short, and bounds are far above the quantile."""
    changes, told, held, true = 0, 0, 0, math.exp(NormalDist().inv_cdf(quantile))
    bounds = []
    for seed in range(4):
        predictor = Bmbp(quantile, window=400)
        for value in np.random.default_rng(seed).lognormal(0, 1, 4_000):
            bound = predictor.bound()
            if bound is not None and len(predictor) >= 400:
                bounds.append(bound)
                told, held = told + 1, held + (value <= bound)
            changes += predictor.observe(float(value))
    assert changes <= 2 * 4, "as A10 allows for .95"
    assert told > 12_000
    assert quantile - 0.01 <= held / told <= quantile + 0.06
    assert 1 <= float(np.mean(bounds)) / true < 1.25


@pytest.mark.parametrize("quantile", [0.5, 0.75])
def test_a_real_change_is_found_at_low_quantiles(quantile: float) -> None:
    for seed in range(4):
        predictor = Bmbp(quantile, window=None)
        random = np.random.default_rng(seed)
        for value in random.lognormal(0, 0.5, 1_000):
            predictor.observe(float(value))
        assert any(predictor.observe(float(value)) for value in 5 * random.lognormal(0, 0.5, 40))
