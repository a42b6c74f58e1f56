"""Reservations preempt best-effort leases, the youngest first."""

from __future__ import annotations

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.preemption.base import NEVER, PreemptionPolicy

_DAY = 86_400


class ArPreemptsBestEffort(PreemptionPolicy):
    """Lets reservations preempt best-effort leases; younger leases are better victims, and old ones are safe.

    Sotomayor 2010, section 4.3.2, with the ages of the author's programs (haizea F36, ``ar-preempts-be``).

    Options:

    * ``preemption_safe_age`` (7 days): age in seconds from which a lease is never preempted.
    * ``preemption_age_scale`` (31 days): age in seconds at which the score reaches 0.
    * ``preemption_age_basis``: ``submission`` (default) counts the age from the submission; ``run`` counts the time
      that the lease has run, so the lease that loses least goes first.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._safe_age = options.integer("preemption_safe_age", 7 * _DAY)
        self._scale = max(1, options.integer("preemption_age_scale", 31 * _DAY))
        self._basis = options.get("preemption_age_basis", "submission")
        if self._basis not in ("submission", "run"):
            raise InvalidValueError(
                "policy option preemption_age_basis", f"must be submission or run, not {self._basis!r}"
            )

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``Preemption.score``."""
        if preemptor.kind is not LeaseKind.RESERVATION or victim.lease.kind is not LeaseKind.BEST_EFFORT:
            return NEVER
        return self.victim_score(victim, instant)

    def victim_score(self, victim: Victim, instant: int) -> float:
        """Return the score of a best-effort lease as a victim, for any preemptor."""
        request = victim.lease.request
        if instant - request.submitted >= self._safe_age:
            return NEVER
        age = instant - request.submitted if self._basis == "submission" else request.duration - victim.remaining
        return max(0.0, (self._scale - age) / self._scale)
