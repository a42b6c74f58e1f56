"""Probe ``deadline``."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.simulation import haizea_columns
from lease_scheduler.simulation.probes.base import Probe


class DeadlineProbe(Probe):
    """Delays of deadline leases, counted from the requested start."""

    def at_end(self, lease: Lease, now: int) -> None:
        """See ``Probe.at_end``."""
        if lease.kind is LeaseKind.DEADLINE:
            self.accounting.set_lease(lease.lease_id, haizea_columns.delays(lease))
