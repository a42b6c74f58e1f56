"""Probe ``lease-extras``."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease
from lease_scheduler.simulation.haizea_columns import EXTRA_COLUMNS, PERLEASE_COLUMNS
from lease_scheduler.simulation.probes.base import Probe

#: Statistics of a lease that other probes record.
_TAKEN = frozenset(PERLEASE_COLUMNS) - frozenset(EXTRA_COLUMNS)


class LeaseExtrasProbe(Probe):
    """Extras of leases in the workload, such as the fields of a log."""

    def at_end(self, lease: Lease, now: int) -> None:
        """See ``Probe.at_end``."""
        extras = lease.request.extras
        self.accounting.set_lease(lease.lease_id, {name: extras[name] for name in extras if name not in _TAKEN})
