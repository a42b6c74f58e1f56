"""No penalties: the default."""

from __future__ import annotations

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.penalty.base import PenaltyPolicy


class NoPenalty(PenaltyPolicy):
    """Breaches are recorded and cost nothing, as in Haizea."""

    charges = False

    def penalty(self, breach: Breach, request: LeaseRequest) -> float:
        """See ``PenaltyPolicy.penalty``."""
        return 0.0
