"""Admission of one external request at a time."""

from __future__ import annotations

from lease_scheduler.policy.admission.external import ExternalAdmission
from lease_scheduler.policy.admission.site_view import SiteView


class AggressiveAdmission(ExternalAdmission):
    """Lets one lease of a peer wait (AACP; Amini Salehi 2012, section 5.3.2)."""

    def places(self, view: SiteView, now: int) -> int | None:
        """See ``ExternalAdmission.places``."""
        return 1
