"""As long as the plan lets the lease run, during which nobody preempts it."""

from __future__ import annotations

from lease_scheduler.model.kinds import Assured
from lease_scheduler.policy.assurance.base import AssurancePolicy, Promise, Shortfall, Wanted


class Planned(AssurancePolicy):
    """Promises the lifetime if the plan has the lease on its hosts for so long, and keeps reservations out meanwhile.

    The promise holds with any probability, except for failures of hosts. It needs no history.
    """

    def _promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        return Promise(Assured.PLANNED)
