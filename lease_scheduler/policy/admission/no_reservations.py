"""Admission without reservations."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView


class NoReservations(AdmissionPolicy):
    """Refuses reservations, accepts every other kind (haizea F35, ``no-ARs``)."""

    def refusal(self, request: LeaseRequest, now: int, view: SiteView | None = None) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        if request.kind is LeaseKind.RESERVATION:
            return "kind: this site does not accept reservations; request a deadline, immediate or best-effort lease"
        return None
