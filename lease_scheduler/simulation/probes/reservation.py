"""Probe ``ar``."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.simulation import haizea_columns
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.probes.base import Probe
from lease_scheduler.simulation.probes.decisions import Decisions
from lease_scheduler.simulation.result import RunResult


class ReservationProbe(Probe):
    """Numbers of accepted and rejected reservations, over time and in total."""

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        self._decisions = Decisions(accounting, LeaseKind.RESERVATION, "Accepted AR", "Rejected AR")

    def at_request(self, lease: Lease, now: int) -> None:
        """See ``Probe.at_request``."""
        self._decisions.count(lease, now)

    def finish(self, result: RunResult) -> None:
        """See ``Probe.finish``."""
        self.accounting.set_run(haizea_columns.reservation_counts(result.leases))
