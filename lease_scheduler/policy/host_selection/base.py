"""The interface of host selection policies (haizea F38; Sotomayor 2010, section 4.3.4)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.base import PolicyOptions


class HostSelectionPolicy(ABC):
    """Ranks the hosts that could hold a lease.

    :param options: what the operator set for policies
    """

    def __init__(self, options: PolicyOptions) -> None:
        self.options = options

    @abstractmethod
    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """Host numbers (from ``hosts.numbers``), best first; hosts that are left out are not used."""
