"""A figure of the planner's benchmark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """How long one kind of decision takes on one size of plan.

    :ivar measure: what was decided, and how
    :ivar hosts: hosts of the site
    :ivar leases: live leases
    :ivar steps: steps of the availability
    :ivar decisions: how many were timed
    :ivar median_ms: milliseconds
    :ivar p95_ms: milliseconds that 95 in 100 do not exceed
    :ivar memory_mib: largest resident memory of the process so far
    :ivar aim_ms: most milliseconds that the median should be, none if there is no such aim
    """

    measure: str
    hosts: int
    leases: int
    steps: int
    decisions: int
    median_ms: float
    p95_ms: float
    memory_mib: float
    aim_ms: float | None
