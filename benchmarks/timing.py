"""A figure of the planner's benchmark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """How long one kind of decision takes on one size of plan.

    :ivar measure: what was decided, and how
    :ivar hosts: number of hosts of the site
    :ivar leases: number of live leases
    :ivar steps: steps of the availability
    :ivar decisions: number of timed decisions
    :ivar median_ms: median, in milliseconds
    :ivar p95_ms: 95th percentile, in milliseconds
    :ivar memory_mib: largest resident memory of the process so far
    :ivar aim_ms: longest median, in milliseconds, that we aim for; None if there is no aim
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
