"""Adding and dropping entries of long arrays: a few are faster by slices, many by indices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lease_scheduler.plan.capacity.steps import IntArray

#: Up to this many entries are added or dropped by slices.
FEW = 16


def with_repeats(array: IntArray, before: IntArray) -> IntArray:
    """Return an array with the entry before each of some indices repeated.

    :param array: shape (..., n)
    :param before: indices of entries, ascending, each at least 1 and at most n; one may occur several times
    """
    if len(before) > FEW:
        is_new = np.zeros(array.shape[-1] + len(before), dtype=np.int64)
        is_new[before + np.arange(len(before))] = 1
        repeated: IntArray = array.take(np.arange(len(is_new)) - is_new.cumsum(), axis=-1)
        return repeated
    cuts = before.tolist()
    inner = [array[..., one - 1 : other] for one, other in pairwise([*cuts, array.shape[-1]])]
    return np.concatenate((array[..., : cuts[0]], *inner), axis=-1)


def without(array: IntArray, dropped: IntArray) -> IntArray:
    """Return an array without some entries.

    :param array: shape (..., n)
    :param dropped: their indices, ascending
    """
    if len(dropped) > FEW:
        keep = np.ones(array.shape[-1], dtype=bool)
        keep[dropped] = False
        kept: IntArray = array.compress(keep, axis=-1)
        return kept
    cuts = dropped.tolist()
    inner = [array[..., one + 1 : other] for one, other in pairwise([*cuts, array.shape[-1]])]
    return np.concatenate((array[..., : cuts[0]], *inner), axis=-1)
