"""So much for every node-hour that was not delivered."""

from __future__ import annotations

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.penalty.base import PenaltyPolicy


class Proportional(PenaltyPolicy):
    """A rate times the node-hours that were promised and not delivered.

    Linear in what is missing, as the penalties of Yeo and Buyya, "Service Level Agreement based Allocation of Cluster
    Resources" (IEEE Cluster 2005), and bounded, as those of Irwin, Grit and Chase, "Balancing Risk and Reward in a
    Market-based Task Service" (HPDC 2004); there the bound is a parameter, here it is the price.

    Option: ``penalty_rate`` (1.00), money per node and hour.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._rate = options.number("penalty_rate", 1.0)

    def penalty(self, breach: Breach, request: LeaseRequest) -> float:
        """See ``PenaltyPolicy.penalty``."""
        return self._rate * breach.node_seconds / 3_600
