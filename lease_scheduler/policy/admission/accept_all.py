"""Admission without limits: the default."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView


class AcceptAll(AdmissionPolicy):
    """Refuses no request before planning (haizea F35, ``accept-all``)."""

    def refusal(self, request: LeaseRequest, now: int, view: SiteView | None = None) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        return None
