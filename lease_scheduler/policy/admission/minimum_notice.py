"""A minimum notice for reservations."""

from __future__ import annotations

from lease_scheduler.model.durations import exactly
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions


class MinimumNotice(AdmissionPolicy):
    """Refuses reservations that start too soon, as in the example of Sotomayor 2010, section 4.3.1 (haizea F35).

    Option: ``admission_minimum_notice`` in seconds (24 hours).
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._notice = options.integer("admission_minimum_notice", 86_400)

    def refusal(self, request: LeaseRequest, now: int, view: SiteView | None = None) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        if request.kind is LeaseKind.RESERVATION and request.start is not None and request.start - now < self._notice:
            return f"start: reservations must be made at least {exactly(self._notice)} in advance"
        return None
