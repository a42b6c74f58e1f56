"""Admission by the ratio of external service to local arrivals."""

from __future__ import annotations

from lease_scheduler.policy.admission.learnt_load import LearntLoad
from lease_scheduler.policy.admission.site_view import SiteView


class RateBasedAdmission(LearntLoad):
    """Lets as many leases of peers wait as can be served between two local requests (RACP; Amini Salehi 2012, 5.3.2).

    That is the external service rate without interruptions over the local arrival rate, rounded, and at least 1.
    """

    def places(self, view: SiteView, now: int) -> int | None:
        """See ``ExternalAdmission.places``."""
        load = self.load(view, now)
        if load is None or not load.local_rate:
            return None
        return max(1, round(1 / load.external_work / load.local_rate))
