"""Reservations and deadline leases preempt deadline leases that can wait."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.preemption.base import NEVER, PreemptionPolicy


class DeadlinePreemption(PreemptionPolicy):
    """Makes a deadline lease a victim if it would still meet its deadline; the one with most slack goes first.

    Sotomayor 2010, section 5.3 (haizea F57): let t be the instant, d the duration of the preemptor plus suspension and
    resumption, and r the time that the victim has yet to run. A victim must satisfy t + d + r < deadline. Its score is
    (deadline - t - d) / r.

    Reservations are preemptors as well: the author's program treats a reservation as a deadline lease without slack.
    For them a victim may end exactly at its deadline, which keeps the promise. Between deadline leases the strict
    inequality of the text applies, which reproduces its results.
    """

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``Preemption.score``."""
        deadline = victim.lease.request.deadline
        if not preemptor.kind.is_preemptor or deadline is None:
            return NEVER
        back_at = instant + preemptor.duration + victim.overhead
        done_at = back_at + victim.remaining
        if done_at > deadline or (done_at == deadline and preemptor.kind is LeaseKind.DEADLINE):
            return NEVER
        return (deadline - back_at) / victim.remaining
