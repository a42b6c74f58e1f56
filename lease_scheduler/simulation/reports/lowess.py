"""Lowess: a smooth curve through a cloud of points (Cleveland 1979, JASA 74(368), 829-836).

Local linear regression with tricube weights, made robust against outliers by bisquare weights. Written here because
the only kept library that has it would bring more dependencies than the rest of the project together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError

Floats = NDArray[np.float64]

# Numbers of Cleveland's program: nearer than the first share of a radius counts in full, farther than the second not at
# all; a local fit whose points spread less than this share of the whole range is level.
_NEAR = 0.001
_FAR = 0.999
_LEVEL = 0.001

# Parts of the range in which the curve is computed once at most; its plots are not finer than that.
_PARTS = 500

# Distances held in memory at a time, as float64.
_BLOCK = 1_000_000


def lowess(x: Floats, y: Floats, fraction: float = 2 / 3, iterations: int = 3) -> tuple[Floats, Floats]:
    """The Lowess curve of points.

    :param x: abscissas, in any order, with repetitions
    :param y: ordinates, same shape
    :param fraction: share of the points that each local fit uses, more than 0 and at most 1
    :param iterations: how often outliers are weighted down, at least 0
    :return: abscissas in increasing order, and the curve there; straight lines join them. They are the different ones
        of the points, thinned out where more than one falls into the same five-hundredth of their range
    :raises InvalidValueError: no points, shapes that differ, values that are not finite, options out of bounds
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check(x, y, fraction, iterations)
    where = _abscissas(x)
    neighbours = max(min(2, len(x)), min(len(x), int(fraction * len(x) + 1e-7)))
    # The radii do not change from one iteration to the next; the robustness weights do.
    radii = np.concatenate([_radii(block, x, neighbours) for block in _blocks(where, len(x))])
    robustness = np.ones_like(y)
    curve = _fit(where, radii, x, y, robustness)
    for _ in range(iterations):
        residuals = np.abs(y - np.interp(x, where, curve))
        cutoff = 6 * float(np.median(residuals))
        if cutoff <= max(1e-7 * float(residuals.mean()), 1e-9 * float(np.ptp(y))):
            # Most points lie on the curve; what is left of the others is rounding.
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
    """Where the curve is computed: both ends of the points and at most one in every part between."""
    different = np.unique(x)
    parts = np.floor((different - different[0]) / max(float(np.ptp(different)), np.finfo(float).tiny) * _PARTS)
    _, first = np.unique(parts, return_index=True)
    return different[np.union1d(first, len(different) - 1)]


def _blocks(values: Floats, width: int) -> list[Floats]:
    return np.array_split(values, -(-len(values) * width // _BLOCK))


def _radii(where: Floats, x: Floats, neighbours: int) -> Floats:
    """How far the nearest so many points reach, for each abscissa."""
    distances = np.abs(where[:, None] - x[None, :])
    return np.asarray(np.partition(distances, neighbours - 1, axis=1)[:, neighbours - 1])


def _fit(where: Floats, radii: Floats, x: Floats, y: Floats, robustness: Floats) -> Floats:
    spread = _LEVEL * float(np.ptp(x))
    blocks = zip(_blocks(where, len(x)), _blocks(radii, len(x)), strict=True)
    return np.concatenate([_fit_block(block, radius, x, y, robustness, spread) for block, radius in blocks])


def _fit_block(where: Floats, radii: Floats, x: Floats, y: Floats, robustness: Floats, spread: float) -> Floats:
    """Value at each abscissa of the straight line through its neighbours, least squares weighted."""
    offsets = x[None, :] - where[:, None]
    weights = _tricube(np.abs(offsets), radii[:, None]) * robustness
    total = weights.sum(axis=1)
    # With every neighbour an outlier there is nothing to trust more than another.
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
