"""Proposals for filters, built from the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.messages import Message
from lease_scheduler.service.core.terms import lease_document
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.enforcement.asking import ended_message
from lease_scheduler.service.requests.enforcement.base import Account, ChangeProposal, Extension, Proposal
from lease_scheduler.service.requests.enforcement.consumption import NODES
from lease_scheduler.service.requests.enforcement.views import lease_body, unit_views

#: A lease in these states waits for hosts.
_WAITING = frozenset({LeaseState.PENDING, LeaseState.QUEUED, LeaseState.SUSPENDED_PENDING, LeaseState.SUSPENDED_QUEUED})


def new_proposal(
    site: SiteTransactions, asked: Document, document: LeaseDocument, lease: Lease, *, weighs_plan: bool = False
) -> Proposal:
    """Return the proposal of a new lease; within a transaction of the site.

    :param asked: its document in the form of the API
    :param document: its stored document, with the number of nodes that each reservation would be granted
    :param lease: the lease as it would be planned
    :param weighs_plan: whether to add the account of the project
    """
    account = account_of(site, document.project_id) if weighs_plan else None
    allocations = _allocations(site, document, lease)
    shown, live = _dated(asked, lease), _live(site, document)
    return Proposal(shown, lease.request, site.work.now, allocations, live, lease, account)


def account_of(site: SiteTransactions, project_id: str, *, without: str = "") -> Account:
    """Return the account of a project; within a transaction of the site.

    :param without: id of a lease to leave out
    """
    now, store = site.work.now, site.store
    return Account(
        project_id,
        now,
        tuple(lease for lease, document in _of_project(site, project_id) if document.lease_id != without),
        tuple(host.whole_capacity for host in site.engine.site.hosts),
        # Leases may end before this is called, but usage until now stays the same.
        lambda since: _used(store.used(project_id, since, now)),
    )


def _used(found: tuple[int, Mapping[str, int]]) -> dict[str, int]:
    """Return node-seconds and resource-seconds in one mapping."""
    node_seconds, resource_seconds = found
    return {**resource_seconds, NODES: node_seconds}


def change_proposal(
    site: SiteTransactions,
    lease_id: str,
    changes: Document,
    request: LeaseRequest,
    least: tuple[int, ...] | None = None,
    *,
    weighs_others: bool = False,
    weighs_plan: bool = False,
) -> ChangeProposal:
    """Return the proposal of a change to a live lease; within a transaction of the site.

    :param changes: the keys of its document that change
    :param request: the terms that it would have
    :param least: as in ``engine.Engine.change``
    :param weighs_others: whether to find which leases of other projects an extension would delay
    :param weighs_plan: whether to add the account of the project, and the lease as it would be planned
    """
    lease, document = site.work.leases[lease_id], site.work.documents[lease_id]
    allocations = _allocations(site, document, lease)
    shown = _dated(lease_document(lease, document), lease)
    account = account_of(site, document.project_id, without=lease_id) if weighs_plan else None
    current = Proposal(shown, lease.request, site.work.now, allocations, _live(site, document), lease, account)
    given = {key: value for key, value in changes.items() if key != "version"}
    extension = None if lease.is_offered else _extension(lease, document, request)
    if extension is not None and weighs_others:
        extension = replace(
            extension,
            delayed=_delayed(site, document, request, least),
            waiting=sum(_waits(each) for each in _of_others(site, document)),
        )
    planned = _changed(site, document, request, least) if weighs_plan else None
    return ChangeProposal(current, given, request, extension, planned)


def _extension(lease: Lease, document: LeaseDocument, request: LeaseRequest) -> Extension | None:
    """Return the time that new terms add to a lease, or None if they add none."""
    before = lease.request.duration
    if request.duration <= before:
        return None
    cut = document.extensions.cut(before)
    end = planned_end(lease)
    return Extension(request.duration - before, document.extensions, None if end is None else end + cut, cut)


def _waits(lease: Lease) -> bool:
    """Return whether a lease waits for hosts, for all of its work or for a rest that is not planned yet."""
    if lease.is_offered or lease.kind.promises_interval:
        return False
    return lease.state in _WAITING or (bool(lease.holdings) and lease.holdings[-1].closing is Closing.SUSPEND)


def _of_others(site: SiteTransactions, document: LeaseDocument) -> list[Lease]:
    """Return the live leases of other projects."""
    work = site.work
    return [work.leases[key] for key, other in work.documents.items() if other.project_id != document.project_id]


def _delayed(
    site: SiteTransactions, document: LeaseDocument, request: LeaseRequest, least: tuple[int, ...] | None
) -> int:
    """Return the number of leases of other projects that a change would delay; 0 if the plan refuses the change."""
    try:
        _, lost = site.engine.quote_change(document.lease_id, request, least=least)
    except NotPlannableError:
        return 0
    own = document.project_id
    return sum(site.work.documents[each].project_id != own for each in lost)


def _changed(
    site: SiteTransactions, document: LeaseDocument, request: LeaseRequest, least: tuple[int, ...] | None
) -> Lease | None:
    """Return a lease as it would be with other terms, or None if the plan refuses them."""
    try:
        return site.engine.quote_change(document.lease_id, request, least=least)[0]
    except NotPlannableError:
        return None


def keep_message(site: SiteTransactions) -> Callable[[Message], None]:
    """Return a function that stores messages for filters, each in its own transaction."""

    def keep(message: Message) -> None:
        with site.transaction():
            site.work.notify(message)

    return keep


def report_ends(site: SiteTransactions) -> None:
    """Have a message for filters written in the transaction in which a lease ends."""

    def at_end(lease: Lease, before: Lease | None, document: LeaseDocument) -> Message | None:
        if document.maintenance:
            # Filters were not asked about maintenance.
            return None
        last = lease if before is None else before
        shown = _dated(lease_document(lease, document), last)
        return ended_message(lease, lease_body(shown, _allocations(site, document, last)))

    site.work.at_end = at_end


def _dated(asked: Document, lease: Lease) -> Document:
    """Return a lease document with the planned dates where its terms have none."""
    held = lease.holdings
    if not held:
        return asked
    start = held[0].run_start if asked["start"] is None else asked["start"]
    end = planned_end(lease) if asked["end"] is None else asked["end"]
    return {**asked, "start": start, "end": end}


def _live(site: SiteTransactions, document: LeaseDocument) -> list[tuple[Lease, LeaseDocument]]:
    """Return the other live leases of the project, without those for maintenance, which no limit counts."""
    return [each for each in _of_project(site, document.project_id) if each[1].lease_id != document.lease_id]


def _of_project(site: SiteTransactions, project_id: str) -> list[tuple[Lease, LeaseDocument]]:
    """Return the live leases of a project, without those for maintenance."""
    work = site.work
    return [
        (work.leases[lease_id], document)
        for lease_id, document in work.documents.items()
        if document.project_id == project_id and lease_id in work.leases and not document.maintenance
    ]


def _allocations(
    site: SiteTransactions, document: LeaseDocument, lease: Lease
) -> Mapping[str, Sequence[dict[str, Any]]]:
    """Return the hosts or addresses of each reservation, by its id: those of the present holding, or of the first."""
    if not lease.holdings:
        return {}
    units = site.store.units.ids(lease.holdings[0].assignment)
    addresses = {address.floating_ip_id: address for address in site.records.floating_ips.values()}
    return {
        each.reservation_id: unit_views(
            units[each.first_node : each.first_node + each.node_count], site.records.hosts, addresses
        )
        for each in document.reservations
    }
