"""Approval of leases: whether a lease needs it before it starts, and the decision."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.approval_rules import only_shrinks

#: The field of a request that a refusal names.
_FIELD = "approval"


class Approvals:
    """Operation that approves or declines leases that await approval.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    @answers(EngineRequests.decide_lease)
    def decide(self, context: Document, lease_id: str, approved: bool, reason: str) -> Document:
        """Approve or decline a lease that awaits approval.

        :raises RefusedError: it does not await approval, or no longer
        """
        site, work = self._site, self._site.work
        said = f"{'approved' if approved else 'declined'}{f': {reason}' if reason else ''}"
        with site.request(context):
            lease = work.leases.get(lease_id)
            if lease is None or not lease.awaits_approval:
                problem = "was decided already, is over, or never needed that"
                raise RefusedError(409, f"lease {lease_id} does not await approval: it {problem}", _FIELD)
            work.asked_by(context, lease_id)
            work.put_document(replace(work.documents[lease_id], updated_at=work.now))
            if approved:
                site.engine.approve(lease_id, said)
                work.note(work.leases[lease_id], said)
            else:
                site.engine.decline(lease_id, said)
        return {"lease_id": lease_id}


def need_of(
    site: SiteTransactions, document: LeaseDocument, request: LeaseRequest, *, negotiation: str | None = None
) -> str:
    """Return why a lease needs approval, or an empty text if it needs none; within a transaction of the site.

    :param request: the terms to check, which may be new ones
    :param negotiation: id that the lease shares with offers of which the project accepts at most one
    """
    rules = site.options.approval
    if document.maintenance or not rules.concern(request.kind, document.project_id):
        return ""
    work, apart = site.work, {request.lease_id, negotiation}
    others = [
        lease.request
        for key, lease in work.leases.items()
        if key not in apart
        and lease.approval is None
        and lease.kind in rules.kinds
        and (negotiation is None or lease.negotiation != negotiation)
        and _counts(work.documents.get(key), document)
    ]
    capacities = (host.whole_capacity for host in site.engine.site.hosts)
    return rules.reason(request, others, capacities, work.now) or ""


def _counts(other: LeaseDocument | None, document: LeaseDocument) -> bool:
    return other is not None and other.project_id == document.project_id and not other.maintenance


def need_of_new(
    site: SiteTransactions,
    document: LeaseDocument,
    request: LeaseRequest,
    *,
    offered: bool,
    negotiation: str | None = None,
) -> str:
    """Return why a new lease needs approval, or an empty text if it needs none; within a transaction of the site.

    :param offered: whether its project asks for an offer, to accept it later
    :param negotiation: as in ``need_of``
    :raises NoPlaceError: it needs approval, and cannot wait for that
    """
    why = need_of(site, document, request, negotiation=negotiation)
    if not why:
        return ""
    if offered:
        raise _refused(f"{_need_text(why)}; ask for the lease itself, which is held until that is decided")
    if not request.kind.has_start:
        kinds = " or ".join(kind.value for kind in LeaseKind if kind.has_start)
        raise _refused(
            f"{_need_text(why)}, for which a {request.kind.value} lease cannot wait; ask for a {kinds} lease"
        )
    assert request.start is not None
    latest = request.start if request.deadline is None else request.deadline - request.duration
    if latest <= site.work.now:
        raise _refused(f"{_need_text(why)}, which takes time; it would have to start at once, so ask for a later start")
    return why


def check_waiting(site: SiteTransactions, project_id: str) -> None:
    """Refuse a lease that must wait for approval if too many of its project wait already; within a transaction.

    :raises RefusedError: 403
    """
    most, work = site.options.approval.maximum_waiting, site.work
    waiting = sum(
        lease.awaits_approval and work.documents[key].project_id == project_id for key, lease in work.leases.items()
    )
    if 0 <= most <= waiting:
        raise RefusedError(
            403,
            f"{waiting} leases of the project await approval, and {most} may ([approval] max_waiting); wait until some "
            "are decided, or cancel some",
            _FIELD,
            reason=RefusalReason.APPROVAL,
        )


def check_acceptance(site: SiteTransactions, lease: Lease, document: LeaseDocument) -> None:
    """Refuse to accept an offer that would need approval by now; within a transaction of the site.

    :raises NoPlaceError: it needs approval
    """
    check_answer(lease)
    if lease.approval is not None:
        return
    why = need_of(site, document, lease.request, negotiation=lease.negotiation)
    if why:
        raise _refused(f"{_need_text(why)} by now; ask for the lease itself, which is held until that is decided")


def check_answer(lease: Lease) -> None:
    """Refuse the project's answer to a lease that is held for approval, not as an offer.

    :raises RefusedError: 409, the lease awaits approval
    """
    if lease.awaits_approval:
        problem = "its project can cancel it, but neither accept nor reject it"
        raise RefusedError(
            409, f"lease {lease.lease_id} awaits approval; {problem}", _FIELD, reason=RefusalReason.APPROVAL
        )


def check_change(site: SiteTransactions, lease: Lease, document: LeaseDocument, request: LeaseRequest) -> None:
    """Refuse new terms that need approval; within a transaction of the site.

    :raises NoPlaceError: they need approval, or the lease awaits it with its present terms
    """
    if lease.awaits_approval:
        raise _refused("the lease awaits approval of its present terms; cancel it and ask for another one")
    if only_shrinks(lease.request, request):
        return
    why = need_of(site, document, request, negotiation=lease.negotiation)
    if why:
        raise _refused(f"with these terms, {_need_text(why)}; ask for another lease")


def _need_text(why: str) -> str:
    return f"the lease needs approval ({why})"


def _refused(message: str) -> NoPlaceError:
    return NoPlaceError(Refusal(RefusalReason.APPROVAL, message))
