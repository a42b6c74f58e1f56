"""A fixed penalty for each node-hour that was not delivered."""

from __future__ import annotations

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.penalty.base import PenaltyPolicy


class Proportional(PenaltyPolicy):
    """Charges a rate times the node-hours that were promised and not delivered.

    Penalties are linear in what is missing, as in Yeo and Buyya, "Service Level Agreement based Allocation of Cluster
    Resources" (IEEE Cluster 2005). They are bounded, as in Irwin, Grit and Chase, "Balancing Risk and Reward in a
    Market-based Task Service" (HPDC 2004), where the bound is a parameter; here it is the price.

    Option: ``penalty_rate`` (1.00), money per node and hour.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._rate = options.number("penalty_rate", 1.0)

    def penalty(self, breach: Breach, lease: Lease) -> float:
        """See ``PenaltyPolicy.penalty``."""
        return self._rate * breach.node_seconds / 3_600
