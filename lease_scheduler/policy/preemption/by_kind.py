"""Preemption by the promises of each kind of lease: the default."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.preemption.ar_preempts_best_effort import ArPreemptsBestEffort
from lease_scheduler.policy.preemption.base import NEVER, PreemptionPolicy
from lease_scheduler.policy.preemption.deadline import DeadlinePreemption

#: Ranks all best-effort leases, which were promised nothing, before all deadline leases.
_BEFORE_ALL_OTHERS = 1e9


class ByKind(PreemptionPolicy):
    """Lets reservations and deadline leases preempt best-effort leases, and deadline leases that can wait.

    This combines the policies of Sotomayor 2010, sections 4.3.2 and 5.3, so that one pool can serve all four kinds. A
    deadline lease is chosen only if best-effort leases are not enough, and only if it still meets its deadline. Among
    best-effort leases, the order and the age from which they are safe are those of ``ar-preempts-be``, with its
    options.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._among_best_effort = ArPreemptsBestEffort(options)
        self._among_deadlines = DeadlinePreemption(options)

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``Preemption.score``."""
        if victim.lease.kind is not LeaseKind.BEST_EFFORT:
            return self._among_deadlines.score(preemptor, victim, instant)
        if not preemptor.kind.is_preemptor:
            return NEVER
        score = self._among_best_effort.victim_score(victim, instant)
        return score if score < 0 else _BEFORE_ALL_OTHERS + score
