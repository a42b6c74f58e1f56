"""The interface of preemption policies (haizea F36; Sotomayor 2010, section 4.3.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.base import PolicyOptions

#: The score of a lease that must not be preempted.
NEVER = -1.0


class PreemptionPolicy(ABC):
    """Scores possible victims.

    :param options: what the operator set for policies
    """

    def __init__(self, options: PolicyOptions) -> None:
        self.options = options

    @abstractmethod
    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """How good a victim a lease is for one that wants to begin at the instant: higher goes first, ``NEVER``
        never.
        """
