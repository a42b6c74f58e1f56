"""Permutation Pack and Choose Pack with a window of two dimensions (Stillwell 2010, section 4.2.5).

Vectors are in lists, by which two of their coordinates are the largest. Bins are filled one after the other: the next
vector comes from the list whose two dimensions are the least loaded ones of the bin, so that loads stay level. The idea
is that of Leinberger, Karypis and Kumar, "Multi-capacity bin packing algorithms with applications to job scheduling
under multiple constraints", ICPP 1999.
"""

from __future__ import annotations

from enum import Enum
from itertools import combinations, permutations

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.model.errors import InvalidValueError

#: Numbers of vectors that are passed over at once if their smallest coordinates do not fit.
_NEAR, _FAR = 8, 64


class ListSort(Enum):
    """In which decreasing order vectors are in their list."""

    SUM = "sum of coordinates"
    MAX = "largest coordinate"
    DIFF = "largest less smallest coordinate"
    RATIO = "largest by smallest coordinate"


class Lists(Enum):
    """Which lists there are, and in which order they are tried.

    :cvar CHOOSE: a list for each two dimensions (Choose Pack)
    :cvar PERMUTE: a list for each two dimensions and which of them is larger (Permutation Pack)
    :cvar LEGACY: the lists of ``PERMUTE``, but of each two the one of the lower dimension is tried first, whatever the
        loads. The published figures of Permutation Pack come from this order; with the right one it is as good as
        Choose Pack
    """

    CHOOSE = "choose"
    PERMUTE = "permute"
    LEGACY = "legacy"


def pack_by_lists(vectors: Floats, bins: int, sort: ListSort, lists: Lists) -> Integers | None:
    """Return the bin of each vector, or None if there are too few bins.

    :param vectors: vectors x dimensions, at least two; every bin has the capacity 1 in each dimension
    :raises InvalidValueError: there is only one dimension
    """
    dimensions = vectors.shape[1]
    if dimensions < 2:
        raise InvalidValueError("vectors", "must have at least 2 dimensions")
    largest = np.argsort(-vectors, axis=1, kind="stable")[:, :2]
    numbers = np.zeros((dimensions, dimensions), np.int64)
    for number, (one, other) in enumerate(combinations(range(dimensions), 2)):
        numbers[one, other] = number
        numbers[other, one] = number
    count = dimensions * (dimensions - 1) // 2
    if lists is not Lists.CHOOSE:
        numbers[np.tril_indices(dimensions, -1)] += count
        count *= 2
    list_of = numbers[largest[:, 0], largest[:, 1]]
    order = np.lexsort((-_key(vectors, sort), list_of))
    starts = np.searchsorted(list_of[order], np.arange(count + 1))
    found = _filled(
        np.ascontiguousarray(vectors[order]), bins, starts, numbers, _walk(dimensions, lists), lists is Lists.LEGACY
    )
    if len(found) != len(vectors):
        return None
    placed = np.empty(len(vectors), np.int64)
    placed[order] = found
    return placed


def _key(vectors: Floats, sort: ListSort) -> Floats:
    total: Floats = vectors.sum(axis=1)
    highest: Floats = vectors.max(axis=1)
    lowest: Floats = vectors.min(axis=1)
    if sort is ListSort.SUM:
        return total
    if sort is ListSort.MAX:
        return highest
    if sort is ListSort.DIFF:
        return highest - lowest
    ratio: Floats = np.divide(highest, lowest, out=np.full_like(highest, np.inf), where=lowest > 0)
    return ratio


def _walk(dimensions: int, lists: Lists) -> Integers:
    """Return the pairs of ranks of loads in the order in which their lists are tried."""
    if lists is Lists.PERMUTE:
        pairs = list(permutations(range(dimensions), 2))
    else:
        pairs = sorted(combinations(range(dimensions), 2), key=lambda pair: (pair[1], pair[0]))
        if lists is Lists.LEGACY:
            # The second of a pair stands for the list of the higher dimension.
            pairs = [pair for one, other in pairs for pair in ((one, other), (other, one))]
    return np.array(pairs, np.int64)


@compiled
def _filled(vectors: Floats, bins: int, starts: Integers, numbers: Integers, walk: Integers, legacy: bool) -> Integers:
    """Return the bin of each vector, or an empty array.

    :param vectors: list after list, each in its order
    :param starts: where each list begins, and the end
    :param numbers: two dimensions -> number of their list
    """
    count, dimensions = vectors.shape
    lists = len(starts) - 1
    placed = np.full(count, -1)
    # From each position, where to look for the next vector that is not packed yet.
    onward = np.arange(count + 1)
    near, far = _minima(vectors, _NEAR), _minima(vectors, _FAR)
    left = np.zeros(dimensions)
    for item in range(count):
        for dimension in range(dimensions):
            left[dimension] += vectors[item, dimension]
    remaining = count
    load = np.zeros(dimensions)
    ranked = np.arange(dimensions)
    # Within a bin loads only grow: what has not fitted will not, so each list is gone through once for each bin.
    cursor = np.empty(lists, np.int64)
    for place in range(bins):
        if remaining == 0:
            break
        for dimension in range(dimensions):
            if left[dimension] > (bins - place) * (1 + TOLERANCE) + TOLERANCE:
                return np.empty(0, np.int64)
            load[dimension] = 0.0
        for number in range(lists):
            cursor[number] = starts[number]
        while True:
            _rank(load, ranked)
            chosen = -1
            for step in range(len(walk)):
                one, other = ranked[walk[step, 0]], ranked[walk[step, 1]]
                if legacy and (one > other) == (walk[step, 0] < walk[step, 1]):
                    one, other = other, one
                current = numbers[one, other]
                end = starts[current + 1]
                item = cursor[current]
                while item < end:
                    item = _onward(onward, item)
                    if item >= end:
                        break
                    if not _fits(load, far[item // _FAR]):
                        item = (item // _FAR + 1) * _FAR
                    elif not _fits(load, near[item // _NEAR]):
                        item = (item // _NEAR + 1) * _NEAR
                    elif not _fits(load, vectors[item]):
                        item += 1
                    else:
                        chosen = item
                        break
                cursor[current] = item
                if chosen >= 0:
                    break
            if chosen < 0:
                break
            onward[chosen] = chosen + 1
            placed[chosen] = place
            remaining -= 1
            for dimension in range(dimensions):
                load[dimension] += vectors[chosen, dimension]
                left[dimension] -= vectors[chosen, dimension]
    return placed if remaining == 0 else np.empty(0, np.int64)


@compiled
def _minima(vectors: Floats, size: int) -> Floats:
    """Return the smallest coordinates of each ``size`` vectors: if these do not fit, none of the vectors does."""
    count, dimensions = vectors.shape
    found = np.full(((count + size - 1) // size, dimensions), np.inf)
    for item in range(count):
        for dimension in range(dimensions):
            if vectors[item, dimension] < found[item // size, dimension]:
                found[item // size, dimension] = vectors[item, dimension]
    return found


@compiled
def _fits(load: Floats, vector: Floats) -> bool:
    # Not all(...): compiled code has no generators.
    dimension = 0
    while dimension < len(load) and load[dimension] + vector[dimension] <= 1 + TOLERANCE:
        dimension += 1
    return dimension == len(load)


@compiled
def _rank(load: Floats, ranked: Integers) -> None:
    """Sort the dimensions by their loads, equal ones by their numbers."""
    for dimension in range(len(load)):
        slot = dimension
        while slot > 0 and load[ranked[slot - 1]] > load[dimension]:
            ranked[slot] = ranked[slot - 1]
            slot -= 1
        ranked[slot] = dimension


@compiled
def _onward(onward: Integers, item: int) -> int:
    """Return the first vector from here that is not packed, and shorten the way to it."""
    while onward[item] != item:
        onward[item] = onward[onward[item]]
        item = onward[item]
    return item
