"""Probe ``immediate``."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.simulation import haizea_columns, metrics
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.probes.base import Probe
from lease_scheduler.simulation.probes.decisions import Decisions
from lease_scheduler.simulation.result import RunResult


class ImmediateProbe(Probe):
    """Numbers of accepted and rejected immediate leases, and the delays of immediate leases."""

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        self._decisions = Decisions(accounting, LeaseKind.IMMEDIATE, "Accepted Immediate", "Rejected Immediate")

    def at_request(self, lease: Lease, now: int) -> None:
        """See ``Probe.at_request``."""
        self._decisions.count(lease, now)

    def at_end(self, lease: Lease, now: int) -> None:
        """See ``Probe.at_end``."""
        if lease.kind is LeaseKind.IMMEDIATE:
            self.accounting.set_lease(lease.lease_id, haizea_columns.delays(lease))

    def finish(self, result: RunResult) -> None:
        """See ``Probe.finish``."""
        counts = metrics.count_leases(haizea_columns.of_kind(result.leases, LeaseKind.IMMEDIATE))
        self.accounting.set_run(
            {
                "Total accepted Immediate": counts.accepted,
                "Total rejected Immediate": counts.rejected - counts.rejected_by_user,
            }
        )
