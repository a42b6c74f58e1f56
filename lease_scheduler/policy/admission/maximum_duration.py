"""A limit on the duration of leases."""

from __future__ import annotations

from lease_scheduler.model.durations import exactly
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions


class MaximumDuration(AdmissionPolicy):
    """Refuses leases that are longer than allowed (haizea F35).

    Option: ``admission_maximum_duration`` in seconds (30 days).
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._longest = options.integer("admission_maximum_duration", 30 * 86_400)

    def refusal(self, request: LeaseRequest, now: int, view: SiteView | None = None) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        if request.duration > self._longest:
            return f"duration: must be at most {exactly(self._longest)} on this site, not {exactly(request.duration)}"
        return None
