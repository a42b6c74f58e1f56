"""Host selection that keeps hosts empty."""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy


class Packing(HostSelectionPolicy):
    """Orders the hosts in use from the fullest to the emptiest, with unused hosts last.

    This saves energy, and keeps hosts free for leases that need exclusive ones. It is the energy-saving example of
    Sotomayor 2010, section 4.3.4 (haizea F38).
    """

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        return hosts.numbers[np.lexsort((hosts.free, hosts.leases == 0))]
