"""No lease is preempted."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.preemption.base import NEVER, PreemptionPolicy


class NoPreemption(PreemptionPolicy):
    """Preempts no lease (haizea F36, ``no-preemption``)."""

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``Preemption.score``."""
        return NEVER
