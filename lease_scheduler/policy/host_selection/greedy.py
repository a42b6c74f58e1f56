"""Default host selection: affect as few leases as possible, and leave room for long ones."""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy


class GreedySelection(HostSelectionPolicy):
    """Orders hosts by fewest leases, most free capacity, and longest time without a change.

    That time counts up to the lease's duration. Ties are broken by host number. Sotomayor 2010, section 5.1.1
    (haizea F34).
    """

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        unchanged = np.minimum(hosts.unchanged, lease.duration)
        return hosts.numbers[np.lexsort((-unchanged, -hosts.free, hosts.leases))]
