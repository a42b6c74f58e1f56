"""The base class of policies that compare victims by the time that their preemption costs."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.durations.overhead_model import OverheadModel, OverheadRates
from lease_scheduler.plan.fitting.shortage import Shortage
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.preemption.base import NEVER
from lease_scheduler.policy.preemption.by_kind import ByKind

_OPTIONS = {
    "suspend_rate": "overhead_suspend_rate",
    "resume_rate": "overhead_resume_rate",
    "copy_rate": "overhead_copy_rate",
    "pause_time": "overhead_pause_time",
    "reschedule_time": "overhead_reschedule_time",
}


class OverheadPolicy(ByKind):
    """Lets the same leases be preempted as ``by-kind``, and knows what that costs.

    The types of request of Amini Salehi 2012, section 3.2.1, are kinds of lease here. *Cancellable* is a best-effort
    lease with preemption mode ``delete``, and costs nothing. *Suspendable* is one with another mode, and costs its
    suspension and resumption. *Migratable* is a deadline lease with mode ``migrate``, and costs its migration. A lease
    that is not preemptible is never a candidate. A lease that has not started costs nothing.

    Options:

    * ``preemption_among``: ``all`` (default), or ``external``, with which only local requests preempt, and only leases
      of peers.
    * ``overhead_suspend_rate``, ``overhead_resume_rate``, ``overhead_copy_rate`` in MB/s; ``overhead_pause_time`` and
      ``overhead_reschedule_time`` in seconds: see ``plan.durations.overhead_model``.
    * those of ``by-kind``.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        defaults = OverheadRates()
        values = {name: options.number(option, getattr(defaults, name)) for name, option in _OPTIONS.items()}
        try:
            self._model = OverheadModel(OverheadRates(**values))
        except InvalidValueError as error:
            raise InvalidValueError(f"policy option {_OPTIONS[error.field]}", error.problem) from error
        among = options.get("preemption_among", "all")
        if among not in ("all", "external"):
            raise InvalidValueError("policy option preemption_among", f"must be all or external, not {among!r}")
        self._external_only = among == "external"

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``Preemption.score``."""
        if self._external_only and (preemptor.origin is not None or victim.lease.request.origin is None):
            return NEVER
        return super().score(preemptor, victim, instant)

    def overheads(self, victims: Sequence[Victim], shortage: Shortage) -> list[float]:
        """Return the seconds that preempting each victim costs."""
        return [self._overhead(victim, shortage) for victim in victims]

    def _overhead(self, victim: Victim, shortage: Shortage) -> float:
        request = victim.lease.request
        if request.preemption_mode is PreemptionMode.DELETE or not shortage.runs(victim.lease):
            return 0.0
        memory = shortage.memory(request)
        if request.preemption_mode is PreemptionMode.MIGRATE:
            return self._model.of_migrating(memory)
        return self._model.of_suspending(memory)
