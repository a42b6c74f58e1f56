"""Promises by the past; while too little of it is known, by the plan."""

from __future__ import annotations

from lease_scheduler.model.kinds import Assured
from lease_scheduler.policy.assurance.base import Promise, Shortfall, Wanted
from lease_scheduler.policy.assurance.statistical import Statistical


class Both(Statistical):
    """Promises what ``statistical`` promises. A site that knows too little yet promises what ``planned`` does."""

    def _promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        if self.knows_too_little(wanted, now):
            return Promise(Assured.PLANNED)
        return super()._promise(wanted, now)
