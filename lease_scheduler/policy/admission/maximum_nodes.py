"""Leases may not be too wide."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions


class MaximumNodes(AdmissionPolicy):
    """Refuses leases of more nodes than allowed (haizea F35).

    Option: ``admission_maximum_nodes`` (1000).
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._most = options.integer("admission_maximum_nodes", 1000)

    def refusal(self, request: LeaseRequest, now: int, view: SiteView | None = None) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        if request.node_count > self._most:
            return f"nodes: {request.node_count} are more than the {self._most} that a lease may have here"
        return None
