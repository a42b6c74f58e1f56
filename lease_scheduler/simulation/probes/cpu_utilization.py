"""Probe ``cpu-utilization``."""

from __future__ import annotations

from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.accounting import Average
from lease_scheduler.simulation.probes.base import Probe
from lease_scheduler.simulation.result import RunResult


class CpuUtilizationProbe(Probe):
    """Share of the cores that run leases, with its time-weighted average (haizea F84)."""

    def finish(self, result: RunResult) -> None:
        """See ``Probe.finish``."""
        counter = self.accounting.create_counter("CPU utilization", Average.TIME_WEIGHTED)
        used = metrics.utilisation(result)
        for instant, value in zip(used.times.tolist(), used.values.tolist(), strict=True):
            counter.put(instant, value)
