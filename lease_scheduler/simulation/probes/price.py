"""Probe ``price``."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease
from lease_scheduler.simulation import haizea_columns
from lease_scheduler.simulation.probes.base import Probe
from lease_scheduler.simulation.result import RunResult


class PriceProbe(Probe):
    """Prices of leases, and total earned and missed revenue (haizea F82)."""

    def at_end(self, lease: Lease, now: int) -> None:
        """See ``Probe.at_end``."""
        self.accounting.set_lease(lease.lease_id, haizea_columns.price(lease))

    def finish(self, result: RunResult) -> None:
        """See ``Probe.finish``."""
        self.accounting.set_run(haizea_columns.money(result.leases))
