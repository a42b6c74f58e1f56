"""Promises by the plan: for as long as it lets the lease run, no other lease preempts it."""

from __future__ import annotations

from lease_scheduler.model.kinds import Assured
from lease_scheduler.policy.assurance.base import AssurancePolicy, Promise, Shortfall, Wanted


class Planned(AssurancePolicy):
    """Promises the lifetime if the plan has the lease on its hosts that long, and keeps reservations out meanwhile.

    The promise holds with any probability unless hosts fail. It needs no history.
    """

    def _promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        return Promise(Assured.PLANNED)
