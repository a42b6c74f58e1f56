"""Lowess: a smooth curve through a cloud of points (Cleveland 1979, JASA 74(368), 829-836).

This is local linear regression with tricube weights, made robust against outliers by bisquare weights. It is
implemented here because the only maintained library that has it would add more dependencies than the project has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError

Floats = NDArray[np.float64]

# Constants of Cleveland's program. Points nearer than the first share of a radius have the full weight, and points
# farther than the second share have none. A local fit is level if its points spread less than the third share of the
# whole range.
_NEAR = 0.001
_FAR = 0.999
_LEVEL = 0.001

# The range is divided into this many parts, and the curve is computed at most once in each. Plots are not finer.
_PARTS = 500

# Maximum number of distances (float64) in memory at a time.
_BLOCK = 1_000_000


def lowess(x: Floats, y: Floats, fraction: float = 2 / 3, iterations: int = 3) -> tuple[Floats, Floats]:
    """Return the Lowess curve of points.

    :param x: abscissas in any order; they may be repeated
    :param y: ordinates, same shape
    :param fraction: share of the points that each local fit uses, more than 0 and at most 1
    :param iterations: number of times that the weights of outliers are reduced, at least 0
    :return: abscissas in increasing order, and the values of the curve there, to be joined by straight lines. There is
        at most one abscissa in each five-hundredth of the range, and one at its end
    :raises InvalidValueError: there are no points, the shapes differ, a value is not finite, or an option is out of
        bounds
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check(x, y, fraction, iterations)
    where = _abscissas(x)
    neighbours = max(min(2, len(x)), min(len(x), int(fraction * len(x) + 1e-7)))
    # Only the robustness weights change from one iteration to the next, not the radii.
    radii = np.concatenate([_radii(block, x, neighbours) for block in _blocks(where, len(x))])
    robustness = np.ones_like(y)
    curve = _fit(where, radii, x, y, robustness)
    for _ in range(iterations):
        residuals = np.abs(y - np.interp(x, where, curve))
        cutoff = 6 * float(np.median(residuals))
        if cutoff <= max(1e-7 * float(residuals.mean()), 1e-9 * float(np.ptp(y))):
            # Most points lie on the curve, up to rounding errors.
            break
        robustness = _bisquare(residuals / cutoff)
        curve = _fit(where, radii, x, y, robustness)
    return where, curve


def _check(x: Floats, y: Floats, fraction: float, iterations: int) -> None:
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InvalidValueError("x", f"and y must be two equally long rows of points, not {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InvalidValueError("x", "and y must be finite; leave out what was not measured")
    if not 0 < fraction <= 1:
        raise InvalidValueError("fraction", f"must be more than 0 and at most 1, not {fraction}")
    if iterations < 0:
        raise InvalidValueError("iterations", f"must be at least 0, not {iterations}")


def _abscissas(x: Floats) -> Floats:
    """Return where the curve is computed: both ends of the points, and at most one abscissa in each part between."""
    different = np.unique(x)
    parts = np.floor((different - different[0]) / max(float(np.ptp(different)), np.finfo(float).tiny) * _PARTS)
    _, first = np.unique(parts, return_index=True)
    return different[np.union1d(first, len(different) - 1)]


def _blocks(values: Floats, width: int) -> list[Floats]:
    return np.array_split(values, -(-len(values) * width // _BLOCK))


def _radii(where: Floats, x: Floats, neighbours: int) -> Floats:
    """Return, for each abscissa, the distance to the farthest of its nearest neighbours.

    :param neighbours: number of neighbours
    """
    distances = np.abs(where[:, None] - x[None, :])
    return np.asarray(np.partition(distances, neighbours - 1, axis=1)[:, neighbours - 1])


def _fit(where: Floats, radii: Floats, x: Floats, y: Floats, robustness: Floats) -> Floats:
    spread = _LEVEL * float(np.ptp(x))
    blocks = zip(_blocks(where, len(x)), _blocks(radii, len(x)), strict=True)
    return np.concatenate([_fit_block(block, radius, x, y, robustness, spread) for block, radius in blocks])


def _fit_block(where: Floats, radii: Floats, x: Floats, y: Floats, robustness: Floats, spread: float) -> Floats:
    """Return, for each abscissa, the value of the weighted least squares line through its neighbours."""
    offsets = x[None, :] - where[:, None]
    weights = _tricube(np.abs(offsets), radii[:, None]) * robustness
    total = weights.sum(axis=1)
    # If all neighbours are outliers, the robustness weights do not distinguish them, and are ignored.
    lost = total <= 0
    weights[lost] = _tricube(np.abs(offsets[lost]), radii[lost, None])
    weights /= weights.sum(axis=1, keepdims=True)
    centre = (weights * offsets).sum(axis=1)
    deviations = offsets - centre[:, None]
    variance = (weights * deviations**2).sum(axis=1)
    means = weights @ y
    covariance = (weights * deviations) @ y
    sloped = np.sqrt(variance) > spread
    slopes = np.divide(covariance, variance, out=np.zeros_like(variance), where=sloped)
    return np.asarray(means - slopes * centre, dtype=np.float64)


def _tricube(distances: Floats, radii: Floats) -> Floats:
    shares = np.divide(distances, radii, out=np.where(distances > 0, np.inf, 0.0), where=radii > 0)
    weights: Floats = np.clip(1 - np.minimum(shares, 1.0) ** 3, 0, None) ** 3
    weights[shares <= _NEAR] = 1.0
    weights[shares > _FAR] = 0.0
    return weights


def _bisquare(shares: Floats) -> Floats:
    weights: Floats = np.clip(1 - shares**2, 0, None) ** 2
    weights[shares <= _NEAR] = 1.0
    weights[shares > _FAR] = 0.0
    return weights
