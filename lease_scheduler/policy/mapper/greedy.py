"""Default mapper: as few hosts as possible."""

from __future__ import annotations

from lease_scheduler.plan.availability import IntArray
from lease_scheduler.plan.mapper import GREEDY
from lease_scheduler.policy.mapper.base import MapperPolicy


class GreedyMapper(MapperPolicy):
    """Fills each host before the next one (haizea F31; Sotomayor 2010, algorithm 1)."""

    def distribute(self, places: IntArray, present: IntArray, count: int) -> IntArray:
        """See ``Mapper.distribute``."""
        return GREEDY.distribute(places, present, count)
