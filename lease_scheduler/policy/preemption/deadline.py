"""Reservations and deadline leases preempt deadline leases that can afford it."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseKind, LeaseRequest
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.preemption.base import NEVER, PreemptionPolicy


class DeadlinePreemption(PreemptionPolicy):
    """A deadline lease is a victim if it would still meet its deadline; the one with most slack goes first.

    Sotomayor 2010, section 5.3 (haizea F57): with t the instant, d the time the preemptor takes plus suspension and
    resumption, and r what the victim has left to run, it must hold t + d + r < deadline; the score is (deadline - t
    - d) / r.

    Reservations are preemptors as well, as in the author's program, to which a deadline lease without slack is one more
    deadline lease. For them a victim may finish at its deadline exactly, which keeps its promise; the strict inequality
    of the text holds between deadline leases, so that its results come out again.
    """

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``PreemptionPolicy.score``."""
        deadline = victim.lease.request.deadline
        if not preemptor.kind.is_preemptor or deadline is None:
            return NEVER
        back_at = instant + preemptor.duration + victim.overhead
        done_at = back_at + victim.remaining
        if done_at > deadline or (done_at == deadline and preemptor.kind is LeaseKind.DEADLINE):
            return NEVER
        return (deadline - back_at) / victim.remaining
