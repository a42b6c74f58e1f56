"""How many offers a project may hold, and for how long."""

from __future__ import annotations

from lease_scheduler.model.approval import Approval
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.enforcement.bounds import PERIOD, check_offers
from lease_scheduler.service.requests.enforcement.peers import check_peer_offers


def offer_time(site: SiteTransactions, lease: Document) -> int:
    """Return the seconds for which an offer is held, at most until the instant that its project has chosen.

    :raises InvalidValueError: the instant has passed
    """
    lifetime = site.options.quote_lifetime
    if lease.get("expires_at") is None:
        return lifetime
    left: int = lease["expires_at"] - site.work.now
    if left <= 0:
        raise InvalidValueError("expires_at", "has passed; give a later date, or leave it out")
    return min(lifetime, left)


def check_held(site: SiteTransactions, project_id: str, peer: str | None) -> None:
    """Refuse another offer for a project or peer that holds too many, or held some for too long without accepting.

    :raises RefusedError: 403
    """
    work = site.work
    check_peer_offers(site.peers, peer, work.leases.values())
    bounds = site.options.bounds.of_project(project_id)
    if bounds.max_held_offers < 0 and bounds.max_unaccepted_time < 0:
        return
    held = [
        lease
        for lease in work.leases.values()
        if lease.is_offered and lease.approval is not Approval.AWAITING
        if work.documents[lease.lease_id].project_id == project_id
    ]
    unaccepted = sum(max(0, work.now - lease.request.submitted) for lease in held)
    if bounds.max_unaccepted_time >= 0:
        unaccepted += site.store.unaccepted_seconds(project_id, work.now - PERIOD)
    check_offers(bounds, len(held), unaccepted)
