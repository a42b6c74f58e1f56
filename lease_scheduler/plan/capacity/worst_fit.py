"""WorstFit: slivers of several resource classes on the hosts with the most space left.

Grit 2007, "Extensible resource management for networked virtual computing", section 6.1, algorithms 1 and 2 (shirako
F69-F73). As printed, algorithm 2 stops after the first slivers of a host, compares the minimum the wrong way round and
checks one class only; here all classes are checked, and passes go on until enough slivers have a place.

The algorithm sorts the hosts anew for each pass, and a pass puts at most one sliver on a host. A host that takes a
sliver in one pass has taken one in every pass before it. So all passes but the last one need no sorting: how many
slivers they place follows from how many fit on each host.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lease_scheduler.plan.capacity.availability import IntArray


@dataclass(frozen=True)
class Slivers:
    """What a request wants: a number of equal slivers, both within limits.

    :ivar fewest: smallest acceptable number of slivers, at least 1
    :ivar most: largest number of slivers that is of use
    :ivar smallest: smallest acceptable sliver, shape (classes,); at least one amount is positive
    :ivar largest: largest sliver that is of use, shape (classes,), at least ``smallest``
    """

    fewest: int
    most: int
    smallest: IntArray
    largest: IntArray


@dataclass(frozen=True)
class Allotment:
    """What a request gets.

    :ivar counts: number of slivers on each host, shape (hosts,)
    :ivar size: the sliver, shape (classes,), equal on all hosts
    """

    counts: IntArray
    size: IntArray


def worst_fit(
    free: IntArray, wanted: Slivers, *, capacity: IntArray | None = None, grain: IntArray | None = None
) -> Allotment | None:
    """Return hosts for as many slivers as possible, spread over the emptiest hosts, or None if there are too few.

    Hosts are chosen for the smallest sliver. Then the slivers grow into what is left on these hosts.

    :param free: what is free on each host throughout the term, shape (classes, hosts); the first class counts most in
        the order of the hosts
    :param capacity: shape (classes, hosts); hosts are compared by free shares of it instead of by free amounts
    :param grain: as for ``grown``
    """
    counts = spread_worst_fit(free, wanted.smallest, wanted.most, capacity)
    if int(counts.sum()) < wanted.fewest:
        return None
    return Allotment(counts, grown(free, counts, wanted.largest, grain, smallest=wanted.smallest))


def spread_worst_fit(free: IntArray, size: IntArray, count: int, capacity: IntArray | None = None) -> IntArray:
    """Return how many of ``count`` slivers each host gets; fewer of them if not all fit.

    :param free: as for ``worst_fit``
    :param size: shape (classes,)
    """
    places = fitting(free, size)
    if int(places.sum()) <= count:
        return places
    passes = whole_passes(places, count)
    counts = np.minimum(places, passes)
    candidates = np.flatnonzero(places > passes)
    remaining = free[:, candidates] - passes * size[:, None]
    order = emptiest_first(remaining, None if capacity is None else capacity[:, candidates])
    counts[candidates[order[: count - int(counts.sum())]]] += 1
    return counts


def fitting(free: IntArray, size: IntArray) -> IntArray:
    """Return how many slivers fit on each host, shape (hosts,)."""
    needed = np.flatnonzero(size)
    places: IntArray = np.maximum((free[needed] // size[needed, None]).min(axis=0), 0)
    return places


def whole_passes(places: IntArray, count: int) -> int:
    """Return how many passes, each with one sliver on every host where one still fits, place at most ``count`` slivers.

    :param places: how many slivers fit on each host; more than ``count`` in all
    """
    low, high = 0, int(places.max())
    while high - low > 1:
        middle = (low + high) // 2
        if int(np.minimum(places, middle).sum()) <= count:
            low = middle
        else:
            high = middle
    return low


def emptiest_first(remaining: IntArray, capacity: IntArray | None = None) -> IntArray:
    """Return the indices of hosts by decreasing space, the first class first; equal hosts by index.

    :param remaining: shape (classes, hosts)
    :param capacity: shape (classes, hosts); hosts are compared by shares of it
    """
    space: npt.NDArray[np.float64] | IntArray = remaining
    if capacity is not None:
        space = remaining / np.maximum(capacity, 1)
    return np.lexsort(tuple(-row for row in space[::-1]))


def grown(
    free: IntArray,
    counts: IntArray,
    largest: IntArray,
    grain: IntArray | None = None,
    *,
    smallest: IntArray | None = None,
) -> IntArray:
    """Return the largest sliver, equal on all hosts, that fits on the chosen hosts (algorithm 2).

    :param counts: number of slivers on each host, shape (hosts,), at least one of them positive
    :param largest: limit of the size, shape (classes,)
    :param grain: units in which each class is given out, shape (classes,); None means single ones
    :param smallest: size that is known to fit, and is granted even if it is no multiple of the grain, shape (classes,)
    """
    used = np.flatnonzero(counts)
    size: IntArray = np.minimum(largest, (free[:, used] // counts[used]).min(axis=1))
    if grain is not None:
        size -= size % grain
    return size if smallest is None else np.maximum(size, smallest)


def kept_first(free: IntArray, size: IntArray, held: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the hosts of an extended lease that keep their slivers: those where the slivers still fit.

    :param free: what is free throughout the new term without the lease itself, shape (classes, hosts)
    :param size: the sliver that is asked for now, shape (classes,)
    :param held: the host of each sliver; a host may occur several times
    :param count: number of slivers that are asked for now; if fewer stay, the fullest hosts lose theirs (shirako F73)
    :return: hosts, a part of ``held``, emptiest first
    """
    hosts, wanted = np.unique(np.asarray(held, dtype=np.int64), return_counts=True)
    staying = np.minimum(fitting(free[:, hosts], size), wanted)
    order = emptiest_first(free[:, hosts])
    kept: IntArray = hosts[order].repeat(staying[order])
    return tuple(kept[:count].tolist())
