"""Haizea's default policy for mixed workloads."""

from __future__ import annotations

from lease_scheduler.policy.preemption.ar_preempts_best_effort import ArPreemptsBestEffort


class ArPreemptsEverything(ArPreemptsBestEffort):
    """Reservations preempt everything that may be preempted, which is best-effort leases only.

    Haizea had two names for the same decision (haizea F36, ``ar-preempts-everything``); both are kept so that its
    configurations run.
    """
