"""The base class of preemption policies (haizea F36; Sotomayor 2010, section 4.3.2)."""

from __future__ import annotations

from lease_scheduler.plan.interfaces import Preemption
from lease_scheduler.policy.base import Policy

#: The score of a lease that must not be preempted.
NEVER = -1.0


class PreemptionPolicy(Policy, Preemption):
    """Scores possible victims; the method to write is ``Preemption.score``.

    :param options: what the operator set for policies
    """
