"""Default host selection: affect as few leases as possible, and keep hosts free for long ones."""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.fitting.hosts_by_keys import HostsByKeys, SortKey
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy


class GreedySelection(HostsByKeys, HostSelectionPolicy):
    """Orders hosts by fewest leases, most free capacity, and longest time without a change.

    That time counts up to the lease's duration. Ties are broken by host number. Sotomayor 2010, section 5.1.1
    (haizea F34).
    """

    def keys(self, hosts: HostsAt, lease: LeaseRequest) -> tuple[SortKey, ...]:
        """See ``HostsByKeys.keys``."""
        return hosts.leases, -hosts.free, -np.minimum(hosts.unchanged, lease.duration)
