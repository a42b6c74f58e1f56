"""Vector packing by a linear program (VP_CHEKURI; Stillwell 2010, section 4.2.5).

The algorithm is that of Chekuri and Khanna, "On multidimensional packing problems", SIAM Journal on Computing 33, 2004.
Its guarantee, O(ln D), is better than its results; it is here to be complete.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers

#: From this share on, a vector is taken to be in one bin completely.
_WHOLE = 1 - 1e-6


def pack_by_program(vectors: Floats, bins: int) -> Integers | None:
    """Return the bin of each vector, or None if more bins are needed.

    Vectors that a corner of the relaxation divides among bins, of which there are few, get bins of their own, as many
    together as fit.

    :param vectors: vectors x dimensions; every bin has the capacity 1 in each dimension
    """
    count, dimensions = vectors.shape
    if count == 0:
        return np.empty(0, np.int64)
    least, most = 1, bins
    best = _shares(vectors, bins)
    if best is None:
        return None
    while least < most:
        middle = (least + most) // 2
        shares = _shares(vectors, middle)
        if shares is None:
            least = middle + 1
        else:
            most, best = middle, shares
    placed: Integers = np.where(best.max(axis=1) >= _WHOLE, best.argmax(axis=1), -1)
    divided = [int(number) for number in np.flatnonzero(placed < 0)]
    used = most
    while divided:
        if used == bins:
            return None
        for number in _largest_group(vectors, divided, dimensions):
            placed[number] = used
            divided.remove(number)
        used += 1
    return placed


def _largest_group(vectors: Floats, divided: list[int], dimensions: int) -> tuple[int, ...]:
    """Return most vectors that fit into one bin together, at most one for each dimension; the first of equals."""
    for size in range(min(dimensions, len(divided)), 1, -1):
        for group in combinations(divided, size):
            if (vectors[list(group)].sum(axis=0) <= 1 + TOLERANCE).all():
                return group
    return (divided[0],)


def _shares(vectors: Floats, bins: int) -> Floats | None:
    """Return vectors x bins, a corner of the relaxation, or None if there are too few bins."""
    from scipy.optimize import linprog  # type: ignore[import-untyped]
    from scipy.sparse import eye, kron  # type: ignore[import-untyped]

    count, dimensions = vectors.shape
    if (vectors > 1 + TOLERANCE).any() or (vectors.sum(axis=0) > bins * (1 + TOLERANCE)).any():
        return None
    solved = linprog(
        np.zeros(count * bins),
        A_ub=kron(vectors.T, eye(bins), format="csr"),
        b_ub=np.ones(dimensions * bins),
        A_eq=kron(eye(count), np.ones((1, bins)), format="csr"),
        b_eq=np.ones(count),
        bounds=(0, 1),
        method="highs-ds",
    )
    return np.asarray(solved.x).reshape(count, bins) if solved.status == 0 else None
