"""Haizea's default policy for mixed workloads."""

from __future__ import annotations

from lease_scheduler.policy.preemption.ar_preempts_best_effort import ArPreemptsBestEffort


class ArPreemptsEverything(ArPreemptsBestEffort):
    """Lets reservations preempt all leases that may be preempted, which are best-effort leases only.

    Haizea had two names for this policy (haizea F36, ``ar-preempts-everything``). Both exist here, so that
    configurations of Haizea can be used.
    """
