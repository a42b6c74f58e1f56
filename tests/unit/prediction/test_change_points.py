from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from lease_scheduler.prediction.change_points import autocorrelation, hit_run, miss_run


def test_an_alternating_series_counts_as_independent() -> None:
    """Prediction section 9, 3."""
    correlation = autocorrelation([0.0, 1.0] * 50)
    assert correlation == 0
    assert miss_run(0.95, correlation) == 3


def test_an_autoregressive_series_has_its_autocorrelation() -> None:
    noise = np.random.default_rng(3).standard_normal(5000)
    series = [0.0]
    for each in noise:
        series.append(0.7 * series[-1] + each)
    found = [autocorrelation(series[start : start + 100]) for start in range(0, 5000, 100)]
    assert float(np.mean(found)) == pytest.approx(0.7, abs=0.06)


@pytest.mark.parametrize(
    ("correlation", "misses", "hits"), [(0, 3, 174), (0.25, 4, 194), (0.9, 28, 629), (1, 28, 3648)]
)
def test_runs_of_the_95_quantile_are_the_published_ones(correlation: float, misses: int, hits: int) -> None:
    """Prediction A7."""
    assert miss_run(0.95, correlation) == misses
    assert hit_run(0.95, correlation) == hits


@pytest.mark.parametrize(
    ("quantile", "misses", "hits"), [(0.99, 2, 895), (0.9, 4, 86), (0.75, 7, 32), (0.5, 13, 13), (0.25, 32, 7)]
)
def test_runs_are_equally_rare_at_every_quantile(quantile: float, misses: int, hits: int) -> None:
    """Prediction A8, as amended: 1.25e-4 for independent observations, whatever the quantile."""
    assert miss_run(quantile, 0) == misses
    assert hit_run(quantile, 0) == hits
    assert (1 - quantile) ** misses <= 1.2501e-4 < (1 - quantile) ** (misses - 1)
    assert quantile**hits <= 1.2501e-4 < quantile ** (hits - 1)


@pytest.mark.parametrize(("quantile", "correlation"), [(0.75, 0.3), (0.75, 0.8), (0.5, 0.5), (0.9, 0.6)])
def test_runs_of_autoregressive_series_are_as_rare_as_those_of_independent_ones(
    quantile: float, correlation: float
) -> None:
    """Simulated: the share 1.25e-4 of stationary series begins with such a run, and more with a shorter one."""
    random, count = np.random.default_rng(7), 400_000
    run, values = miss_run(quantile, correlation), random.standard_normal(count)
    alive = []
    for _ in range(run):
        values = values[values > ndtri(quantile)]
        alive.append(len(values) / count)
        values = correlation * values + math.sqrt(1 - correlation**2) * random.standard_normal(len(values))
    assert alive[-1] <= 1.25e-4 * 1.5
    assert alive[-2] > 1.25e-4 / 1.5


def test_the_published_runs_are_as_rare_as_computed_ones() -> None:
    """So what is computed for other quantiles belongs to the same test: those of .949 are nearly those of .95."""
    for tenths in range(9):
        assert abs(miss_run(0.949, tenths / 10) - miss_run(0.95, tenths / 10)) <= 2
        assert hit_run(0.949, tenths / 10) == pytest.approx(hit_run(0.95, tenths / 10), rel=0.1)


def test_runs_grow_with_the_autocorrelation_and_have_an_end() -> None:
    for quantile in (0.05, 0.5, 0.75, 0.9, 0.999):
        misses = [miss_run(quantile, tenths / 10) for tenths in range(11)]
        hits = [hit_run(quantile, tenths / 10) for tenths in range(11)]
        assert misses == sorted(misses)
        assert hits == sorted(hits)
        assert hits[-1] < math.inf
