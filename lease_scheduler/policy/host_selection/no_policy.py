"""Host selection without a preference."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy


class NoPolicy(HostSelectionPolicy):
    """Fills hosts in the order of their numbers (haizea F38, ``no-policy``)."""

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        return hosts.numbers
