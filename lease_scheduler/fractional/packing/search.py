"""The highest yield at which a vector packing succeeds, by binary search (Stillwell 2010, section 4.2.5).

The names are those of the dissertation: FF and BF (first and best fit), PP and CP (Permutation and Choose Pack), each
with its order. ``PP...-legacy`` is the order of lists from which the published figures of PP come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.bounds import yield_bound
from lease_scheduler.fractional.packing.fits import FitSort, pack_by_fit
from lease_scheduler.fractional.packing.permutation import Lists, ListSort, pack_by_lists
from lease_scheduler.fractional.problem import Instance, Placement, place

#: Packs vectors (vectors x dimensions) into a number of unit bins: the bin of each vector, or None.
Packer = Callable[[Floats, int], Integers | None]

#: Width of the interval at which the search ends.
WIDTH = 0.001

#: Name -> packer, for the 14 packings of the dissertation.
PACKERS: Mapping[str, Packer] = {
    **{f"FF{sort.name}": partial(pack_by_fit, sort=sort, best=False) for sort in FitSort},
    **{f"BF{sort.name}": partial(pack_by_fit, sort=sort, best=True) for sort in FitSort},
    **{f"PP{sort.name}": partial(pack_by_lists, sort=sort, lists=Lists.PERMUTE) for sort in ListSort},
    **{f"CP{sort.name}": partial(pack_by_lists, sort=sort, lists=Lists.CHOOSE) for sort in ListSort},
}

#: Permutation Pack with the order of lists from which the published figures come.
LEGACY_PACKERS: Mapping[str, Packer] = {
    f"PP{sort.name}-legacy": partial(pack_by_lists, sort=sort, lists=Lists.LEGACY) for sort in ListSort
}


def best_packing(instance: Instance, pack: Packer, *, width: float = WIDTH) -> Placement | None:
    """Return the placement of the highest yield at which the packing succeeds, or None if it never does.

    Success is not monotone in the yield, so the search may miss a higher one. The yield 0 is never tried, so jobs that
    can only have their minimum are not placed. ``Placement.target`` is the yield of the search, and ``least`` what the
    placement really allows.

    :param width: the search ends when the yield is known within this
    """
    high = yield_bound(instance)
    if high is None:
        return None
    low, best = 0.0, None
    while True:
        target = (low + high) / 2
        nodes = pack(instance.vectors(target), instance.nodes)
        if nodes is None:
            high = target
        else:
            low = target
            best = place(instance, nodes, target)
        if high - low <= width or target >= 1 - 1e-5:
            return best
