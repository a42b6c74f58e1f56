"""A host selection policy in a package of its own."""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy


class EmptiestFirst(HostSelectionPolicy):
    """The host with the largest free share first; hosts that are too full are not used at all.

    Option: ``emptiest_first_minimum_free``, the minimum free share in per cent (0 by default).
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._minimum_free = options.integer("emptiest_first_minimum_free", 0) / 100

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelectionPolicy.rank``."""
        emptiest_first = np.argsort(-hosts.free, kind="stable")
        return hosts.numbers[emptiest_first[hosts.free[emptiest_first] >= self._minimum_free]]
