"""Probe ``disk-usage``."""

from __future__ import annotations

from lease_scheduler.plan.plan import Plan
from lease_scheduler.plan.transfers.usage import disk_usage
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.probes.base import Probe

#: Name of the counter.
DISK_USAGE = "Disk usage"


class DiskUsageProbe(Probe):
    """MB of disk that images use on the fullest host (haizea F85); no values without image transfers."""

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        self._counter = accounting.create_counter(DISK_USAGE)

    def at_step(self, plan: Plan, now: int) -> None:
        """See ``Probe.at_step``."""
        if plan.images is not None:
            self._counter.put(now, max(disk_usage(plan.images, plan.leases).values(), default=0))
