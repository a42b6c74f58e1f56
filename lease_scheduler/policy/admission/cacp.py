"""Admission of every external request."""

from __future__ import annotations

from lease_scheduler.policy.admission.external import ExternalAdmission
from lease_scheduler.policy.admission.site_view import SiteView


class ConservativeAdmission(ExternalAdmission):
    """Lets any number of leases of peers wait (CACP; Amini Salehi 2012, section 5.3.2)."""

    def places(self, view: SiteView, now: int) -> int | None:
        """See ``ExternalAdmission.places``."""
        return None
