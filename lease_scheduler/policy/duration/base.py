"""The base class of duration policies (Pucher 2016, chapter 3)."""

from __future__ import annotations

from lease_scheduler.plan.interfaces import ExpectedDuration
from lease_scheduler.policy.base import Policy


class DurationPolicy(Policy, ExpectedDuration):
    """Says how long leases are expected to run; the method to write is ``ExpectedDuration.expected``.

    A policy that learns from how long leases really ran also overrides ``observe``.

    :param options: what the operator set for policies
    """

    shortens = True
    #: Share of the leases that should end within the expected duration; None if the policy aims at none.
    quantile: float | None = None
