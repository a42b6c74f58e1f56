"""Default assurance policy: nothing is promised."""

from __future__ import annotations

from lease_scheduler.policy.assurance.base import AssurancePolicy, Promise, Shortfall, Wanted


class NoAssurance(AssurancePolicy):
    """Promises nothing. Requests for a lifetime are refused."""

    promises = False

    def promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        """See ``AssurancePolicy.promise``."""
        return self._promise(wanted, now)

    def _promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        return Shortfall("this site promises no lifetimes; leave min_lifetime and assurance out")
