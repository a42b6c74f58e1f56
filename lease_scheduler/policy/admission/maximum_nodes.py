"""A limit on the number of nodes of leases."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions


class MaximumNodes(AdmissionPolicy):
    """Refuses leases with more nodes than allowed (haizea F35).

    Option: ``admission_maximum_nodes`` (1000).
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._most = options.integer("admission_maximum_nodes", 1000)

    def refusal(self, request: LeaseRequest, now: int, view: SiteView | None = None) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        if request.node_count > self._most:
            return f"nodes: must be at most {self._most} on this site, not {request.node_count}"
        return None
