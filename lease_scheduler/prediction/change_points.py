"""When a run of misses, or of hits, is evidence that the process has changed.

Three independent observations in a row above an upper bound of the .95-quantile have probability .05 cubed.
Observations that depend on each other miss in longer runs without any change, so the tolerated length grows with the
lag-1 autocorrelation: Nurmi, Brevik and Wolski, "QBETS: queue bounds estimation from time series", JSSPP 2007,
section 3.

A run is rare at any other quantile if it is as improbable as that. Three misses are not: at the .75-quantile, one
observation in 64 begins such a run.
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
#: Probability of a run that is evidence of a change: .05 cubed, at every quantile.
_RARE = 1.25e-4
_SHORTEST = 2
#: Autocorrelation for which the last of the runs of hits is computed. At 1 a run would never end.
_HIGHEST = 0.98
_NODES = 160
#: After this many steps, each further step makes a run rarer by the same factor.
_STEPS = 500
_ROUNDING = 1e-9


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
    """Return how many misses in a row of an upper bound count as a change.

    For the .95-quantile the lengths are the published ones. For other quantiles it is the shortest run that a Gaussian
    first-order autoregressive series has with a probability of at most ``_RARE``.

    :param quantile: that of the upper bound
    :param correlation: lag-1 autocorrelation, from 0 to 1; rounded down to tenths, and to .9 at most
    """
    tenths = min(9, math.floor(10 * correlation))
    return _MISSES_95[tenths] if quantile == 0.95 else _shortest_rare_run(quantile, tenths / 10)


def hit_run(quantile: float, correlation: float) -> int:
    """Return how many hits in a row of an upper bound count as a change, because the bound is far too loose.

    For the .95-quantile the lengths are the published ones. For other quantiles they are equally rare: a run below the
    quantile is the mirror image of one above the opposite quantile. Arguments are those of ``miss_run``; the
    autocorrelation is rounded up to tenths, and computed with .98 at most.
    """
    tenths = math.ceil(10 * correlation)
    return _HITS_95[tenths] if quantile == 0.95 else _shortest_rare_run(1 - quantile, min(tenths / 10, _HIGHEST))


@lru_cache(maxsize=1024)
def _shortest_rare_run(quantile: float, correlation: float) -> int:
    """Integrate the density of a run that stays above the quantile, step by step, until it is rare enough."""
    if not correlation:
        return max(math.ceil(math.log(_RARE) / math.log(1 - quantile) - _ROUNDING), _SHORTEST)
    from scipy.special import ndtri  # type: ignore[import-untyped]

    start = float(ndtri(quantile))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = start + (nodes + 1) * 5
    widths = weights * 5
    spread = math.sqrt(1 - correlation**2)
    steps = _density((places[:, None] - correlation * places[None, :]) / spread) / spread * widths[None, :]
    density = _density(places)
    rare, length, mass, factor = _RARE * (1 + 1e-6), 1, 1 - quantile, 0.0
    while mass > rare and length < _STEPS:
        density = np.einsum("ij,j->i", steps, density)
        left = float(density @ widths)
        mass, factor = left, left / mass
        length += 1
    if mass > rare:
        length += math.ceil(math.log(rare / mass) / math.log(factor))
    return max(length, _SHORTEST)


def _density(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-places * places / 2) / math.sqrt(2 * math.pi)


@lru_cache(maxsize=NEWEST)
def _normal_scores(count: int) -> NDArray[np.float64]:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.arange(1, count + 1) / (count + 1)), dtype=float)
