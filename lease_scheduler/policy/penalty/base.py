"""The interface of penalty policies (haizea F95; Sotomayor 2010, section 8.4)."""

from __future__ import annotations

from abc import abstractmethod

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.base import Policy


class PenaltyPolicy(Policy):
    """Says what a breach costs the provider.

    All penalties of a lease together are never more than its price, whatever a policy says: the engine sees to that. So
    leases without prices have no penalties.

    :param options: what the operator set for policies
    :cvar charges: whether there are penalties at all
    """

    charges = True

    @abstractmethod
    def penalty(self, breach: Breach, request: LeaseRequest) -> float:
        """Money for a breach, at least 0.

        :param breach: what was not kept, without a penalty
        :param request: the terms of the lease, which has a price
        """
