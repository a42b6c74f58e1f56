"""When a run of misses, or of hits, is evidence that the process has changed.

Three independent observations in a row above an upper bound of the .95-quantile have probability .05 cubed.
Observations that depend on each other miss in longer runs without any change, so the tolerated length grows with the
lag-1 autocorrelation: Nurmi, Brevik and Wolski, "QBETS: queue bounds estimation from time series", JSSPP 2007,
section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: How many of the newest observations the autocorrelation is computed from.
NEWEST = 100
#: The published lengths of runs of misses of a .95-quantile, for autocorrelations from 0, .1, ... .9 on.
_MISSES_95 = (3, 3, 4, 4, 5, 6, 8, 10, 14, 28)
#: The published lengths of runs of hits of a .95-quantile, for autocorrelations up to 0, .1, ... 1.
_HITS_95 = (174, 179, 186, 194, 210, 233, 254, 305, 400, 629, 3648)
_NODES = 160


def autocorrelation(values: Sequence[float]) -> float:
    """Return the lag-1 autocorrelation of the normal scores of the newest ``NEWEST`` values.

    Of equal values the earlier has the lower rank. What is not between 0 and 1, as with series that alternate, counts
    as 0.

    :param values: in the order of time
    """
    newest = np.asarray(values[-NEWEST:], dtype=float)
    count = len(newest)
    if count < 3:
        return 0.0
    scores = np.empty(count)
    scores[np.argsort(newest, kind="stable")] = _normal_scores(count)
    mean = scores.mean()
    variance = float((scores * scores).mean() - mean * mean)
    covariance = float((scores[:-1] * scores[1:]).mean() - mean * mean)
    correlation = covariance / variance
    return correlation if 0 <= correlation <= 1 else 0.0


def miss_run(quantile: float, correlation: float) -> int:
    """Return how many misses in a row of an upper bound are a change.

    :param quantile: that of the upper bound
    :param correlation: lag-1 autocorrelation, from 0 to 1
    """
    return miss_runs(quantile)[min(9, math.floor(10 * correlation))]


def hit_run(quantile: float, correlation: float) -> int:
    """Return how many hits in a row of an upper bound are a change, because the bound is far too loose.

    Arguments are those of ``miss_run``.
    """
    return hit_runs(quantile)[math.ceil(10 * correlation)]


@lru_cache(maxsize=64)
def miss_runs(quantile: float) -> tuple[int, ...]:
    """Return the lengths of runs of misses for autocorrelations from 0, .1, ... .9 on.

    For .95 they are the published ones. For other quantiles, the shortest run that a Gaussian first-order
    autoregressive series has with a probability of at most that of three independent misses.
    """
    if quantile == 0.95:
        return _MISSES_95
    return tuple(_shortest_rare_run(quantile, tenths / 10) for tenths in range(10))


@lru_cache(maxsize=64)
def hit_runs(quantile: float) -> tuple[int, ...]:
    """Return the lengths of runs of hits for autocorrelations up to 0, .1, ... 1.

    For .95 they are the published ones. For other quantiles they are scaled by how much longer, or shorter, an equally
    rare run of independent hits is.
    """
    if quantile == 0.95:
        return _HITS_95
    scale = (math.log(1 - quantile) / math.log(quantile)) / (math.log(0.05) / math.log(0.95))
    return tuple(math.ceil(length * scale) for length in _HITS_95)


def _shortest_rare_run(quantile: float, correlation: float) -> int:
    """Integrate the density of a run that stays above the quantile, step by step, until it is rare enough."""
    from scipy.special import ndtri  # type: ignore[import-untyped]

    start = float(ndtri(quantile))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = start + (nodes + 1) * 5
    widths = weights * 5
    spread = math.sqrt(1 - correlation**2)
    steps = _density((places[:, None] - correlation * places[None, :]) / spread) / spread * widths[None, :]
    density = _density(places)
    rare, length = (1 - quantile) ** 3, 1
    while length < 3 or float(density @ widths) > rare * (1 + 1e-6):
        density = steps @ density
        length += 1
    return length


def _density(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-places * places / 2) / math.sqrt(2 * math.pi)


@lru_cache(maxsize=NEWEST)
def _normal_scores(count: int) -> NDArray[np.float64]:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.arange(1, count + 1) / (count + 1)), dtype=float)
