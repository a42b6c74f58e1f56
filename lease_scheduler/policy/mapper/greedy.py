"""Default mapper: as few hosts as possible."""

from __future__ import annotations

from lease_scheduler.plan.fitting.mapper import GreedyMapping
from lease_scheduler.policy.mapper.base import MapperPolicy


class GreedyMapper(MapperPolicy, GreedyMapping):
    """Fills each host before the next one (haizea F31; Sotomayor 2010, algorithm 1)."""
