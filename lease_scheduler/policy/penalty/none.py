"""No penalties: the default."""

from __future__ import annotations

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.penalty.base import PenaltyPolicy


class NoPenalty(PenaltyPolicy):
    """Charges nothing for breaches, which are only recorded. Haizea had no penalties."""

    charges = False

    def penalty(self, breach: Breach, lease: Lease) -> float:
        """See ``PenaltyPolicy.penalty``."""
        return 0.0
