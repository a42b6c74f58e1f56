"""Default duration policy: as requested."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.neutral import REQUESTED
from lease_scheduler.policy.duration.base import DurationPolicy


class Requested(DurationPolicy):
    """Expects every lease to run for as long as it was requested (Sotomayor 2010, section 4.3)."""

    shortens = False

    def expected(self, lease: Lease) -> int:
        """See ``ExpectedDuration.expected``."""
        return REQUESTED.expected(lease)
