from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.prediction.change_points import autocorrelation, hit_run, miss_run, miss_runs


def test_an_alternating_series_counts_as_independent() -> None:
    """Prediction section 9, 3."""
    correlation = autocorrelation([0.0, 1.0] * 50)
    assert correlation == 0
    assert miss_run(0.95, correlation) == 3


def test_the_autocorrelation_of_an_autoregressive_series() -> None:
    noise = np.random.default_rng(3).standard_normal(5000)
    series = [0.0]
    for each in noise:
        series.append(0.7 * series[-1] + each)
    found = [autocorrelation(series[start : start + 100]) for start in range(0, 5000, 100)]
    assert float(np.mean(found)) == pytest.approx(0.7, abs=0.06)


@pytest.mark.parametrize(
    ("correlation", "misses", "hits"), [(0, 3, 174), (0.25, 4, 194), (0.9, 28, 629), (1, 28, 3648)]
)
def test_the_published_runs(correlation: float, misses: int, hits: int) -> None:
    """Prediction A7."""
    assert miss_run(0.95, correlation) == misses
    assert hit_run(0.95, correlation) == hits


@pytest.mark.parametrize(
    ("quantile", "simulated"),
    [
        (0.99, (4, 4, 4, 5, 6, 6, 7, 9, 13, 24)),
        (0.90, (3, 4, 4, 5, 5, 6, 7, 9, 12, 21)),
        (0.75, (3, 4, 4, 4, 5, 6, 6, 8, 11, 19)),
    ],
)
def test_runs_of_other_quantiles(quantile: float, simulated: tuple[int, ...]) -> None:
    """Prediction A8: integrated here, simulated there, so they may differ by one."""
    assert np.abs(np.subtract(miss_runs(quantile), simulated)).max() <= 1


def test_an_equally_rare_run_of_hits_is_shorter_for_a_lower_quantile() -> None:
    assert 0.9 ** hit_run(0.9, 0) == pytest.approx(0.1**3, rel=0.25)
