"""Admission by the ratio of external service to local arrivals."""

from __future__ import annotations

from lease_scheduler.policy.admission.learnt_load import LearntLoad
from lease_scheduler.policy.admission.queue_model import places_by_rates
from lease_scheduler.policy.admission.site_view import SiteView


class RateBasedAdmission(LearntLoad):
    """Lets as many leases of peers wait as can be served between two local requests (RACP; Amini Salehi 2012, 5.3.2).

    See ``queue_model.places_by_rates``.
    """

    def places(self, view: SiteView, now: int) -> int | None:
        """See ``ExternalAdmission.places``."""
        load = self.load(view, now)
        return None if load is None else places_by_rates(load)
