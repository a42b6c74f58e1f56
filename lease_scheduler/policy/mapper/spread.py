"""Mapper that puts the VMs of a lease on as many hosts as possible."""

from __future__ import annotations

import numpy as np

from lease_scheduler.plan.availability import IntArray
from lease_scheduler.policy.mapper.base import MapperPolicy


class Spread(MapperPolicy):
    """A VM goes to the host that has fewest of its lease, so that a dead host takes as few as possible with it.

    Ours: what schedulers call spreading or worst fit, within a lease (haizea F30).
    """

    def distribute(self, places: IntArray, present: IntArray, count: int) -> IntArray:
        """See ``Mapper.distribute``."""
        # The most VMs of the lease that a host has in the end; found by bisection, as one more is never fewer in all.
        low, high = int(present.min()), int((present + places).max())
        while low < high:
            middle = (low + high) // 2
            if _up_to(middle, places, present).sum() < count:
                low = middle + 1
            else:
                high = middle
        taken = _up_to(low, places, present)
        too_many = int(taken.sum()) - count
        if too_many:
            # The last one of the worst hosts that are filled to that level stays away.
            highest = np.flatnonzero((taken > 0) & (present + taken == low))
            taken[highest[-too_many:]] -= 1
        return taken


def _up_to(level: int, places: IntArray, present: IntArray) -> IntArray:
    """How many VMs each host takes if it may have so many of the lease."""
    taken: IntArray = np.clip(level - present, 0, places)
    return taken
