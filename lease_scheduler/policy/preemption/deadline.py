"""Deadline leases preempt deadline leases that can afford it."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseKind, LeaseRequest
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.preemption.base import NEVER, PreemptionPolicy


class DeadlinePreemption(PreemptionPolicy):
    """A deadline lease is a victim if it would still meet its deadline; the one with most slack goes first.

    Sotomayor 2010, section 5.3 (haizea F57): with t the instant, d the time the preemptor takes plus suspension and
    resumption, and r what the victim has left to run, it must hold t + d + r < deadline; the score is (deadline - t
    - d) / r.
    """

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``PreemptionPolicy.score``."""
        deadline = victim.lease.request.deadline
        if preemptor.kind is not LeaseKind.DEADLINE or deadline is None:
            return NEVER
        back_at = instant + preemptor.duration + victim.overhead
        if back_at + victim.remaining >= deadline:
            return NEVER
        return (deadline - back_at) / victim.remaining
