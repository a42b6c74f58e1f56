"""First fit and best fit with decreasing vectors (Stillwell 2010, section 4.2.5)."""

from __future__ import annotations

from enum import Enum

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled


class FitSort(Enum):
    """In which decreasing order vectors are packed."""

    SUM = "sum of coordinates"
    MAX = "largest coordinate"
    LEX = "one coordinate after the other"


def pack_by_fit(vectors: Floats, bins: int, sort: FitSort, *, best: bool) -> Integers | None:
    """Return the bin of each vector, or None if one does not fit.

    :param vectors: vectors x dimensions; every bin has the capacity 1 in each dimension
    :param best: of the bins in which a vector fits, take the one with the largest sum of loads, not the first one
    """
    if sort is FitSort.SUM:
        order = np.argsort(-vectors.sum(axis=1), kind="stable")
    elif sort is FitSort.MAX:
        order = np.argsort(-vectors.max(axis=1), kind="stable")
    else:
        order = np.lexsort(-vectors.T[::-1])
    found = _fitted(np.ascontiguousarray(vectors[order]), bins, best)
    if len(found) != len(vectors):
        return None
    placed = np.empty(len(vectors), np.int64)
    placed[order] = found
    return placed


@compiled
def _fitted(vectors: Floats, bins: int, best: bool) -> Integers:
    """Return the bin of each vector, in the order given, or an empty array."""
    count, dimensions = vectors.shape
    held = np.zeros((bins, dimensions))
    total = np.zeros(bins)
    placed = np.empty(count, np.int64)
    for number in range(count):
        chosen = -1
        for place in range(bins):
            if best and chosen >= 0 and total[place] <= total[chosen]:
                continue
            fits = True
            for dimension in range(dimensions):
                if held[place, dimension] + vectors[number, dimension] > 1 + TOLERANCE:
                    fits = False
                    break
            if fits:
                chosen = place
                if not best:
                    break
        if chosen < 0:
            return np.empty(0, np.int64)
        placed[number] = chosen
        for dimension in range(dimensions):
            held[chosen, dimension] += vectors[number, dimension]
            total[chosen] += vectors[number, dimension]
    return placed
