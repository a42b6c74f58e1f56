"""The interface of penalty policies (haizea F95; Sotomayor 2010, section 8.4)."""

from __future__ import annotations

from abc import abstractmethod

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.base import Policy


class PenaltyPolicy(Policy):
    """Computes what the provider owes for a breach.

    The engine limits the penalties of a lease to its price, whatever the policy returns. So leases without prices have
    no penalties.

    :param options: what the operator set for policies
    :cvar charges: whether there are penalties at all
    """

    charges = True

    @abstractmethod
    def penalty(self, breach: Breach, lease: Lease) -> float:
        """Return the penalty for a breach, in money and at least 0.

        :param breach: the breach, whose penalty is not known yet
        :param lease: the lease, which has a price
        """
