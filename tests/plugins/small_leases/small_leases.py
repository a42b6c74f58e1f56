"""An admission policy from outside the project."""

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions


class SmallLeases(AdmissionPolicy):
    """Refuses leases of many nodes."""

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._most = options.integer("small_leases_most", 1_000)

    def refusal(self, request: LeaseRequest, now: int, view: SiteView) -> str | None:
        count = sum(nodes.count for nodes in request.nodes)
        return f"nodes: at most {self._most}, not {count}" if count > self._most else None
