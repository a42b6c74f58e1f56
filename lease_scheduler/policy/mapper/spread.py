"""Mapper that puts the nodes of a lease on as many hosts as possible."""

from __future__ import annotations

import numpy as np

from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.policy.mapper.base import MapperPolicy


class Spread(MapperPolicy):
    """Places each node on the host with the fewest nodes of its lease, so that the failure of a host affects few.

    Schedulers call this spreading or worst fit; here it applies within a lease (haizea F30). Haizea did not have it.
    """

    def distribute(self, places: IntArray, present: IntArray, count: int) -> IntArray:
        """See ``Mapper.distribute``."""
        # The level is the largest number of nodes of the lease per host. Bisection works because the number of nodes
        # that fit never decreases with the level.
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
            # Take one node away from the last hosts in the order of preference that are filled to the level.
            highest = np.flatnonzero((taken > 0) & (present + taken == low))
            taken[highest[-too_many:]] -= 1
        return taken


def _up_to(level: int, places: IntArray, present: IntArray) -> IntArray:
    """Return how many more nodes each host takes if it may have up to ``level`` nodes of the lease."""
    taken: IntArray = np.clip(level - present, 0, places)
    return taken
