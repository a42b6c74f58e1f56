"""Builds the proposals for filters from the plan."""

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
from lease_scheduler.service.enforcement.asking import ended_message
from lease_scheduler.service.enforcement.base import ChangeProposal, Extension, Proposal
from lease_scheduler.service.enforcement.views import lease_body, unit_views
from lease_scheduler.service.site_plan import SitePlan
from lease_scheduler.service.terms import lease_document

#: A lease in these states waits for hosts.
_WAITING = frozenset({LeaseState.PENDING, LeaseState.QUEUED, LeaseState.SUSPENDED_PENDING, LeaseState.SUSPENDED_QUEUED})


def new_proposal(site: SitePlan, asked: Document, document: LeaseDocument, lease: Lease) -> Proposal:
    """Return the proposal of a new lease; within a transaction of the site.

    :param asked: its document in the form of the API
    :param document: with the number of nodes of each reservation, as they would be granted
    :param lease: the lease as it would be
    """
    allocations = _allocations(site, document, lease)
    return Proposal(_dated(asked, lease), lease.request, site.work.now, allocations, _live(site, document))


def change_proposal(
    site: SitePlan,
    lease_id: str,
    changes: Document,
    request: LeaseRequest,
    least: tuple[int, ...] | None = None,
    *,
    weighs_others: bool = False,
) -> ChangeProposal:
    """Return the proposal of a change to a live lease; within a transaction of the site.

    :param changes: the keys of its document that change
    :param request: the terms that it would have
    :param least: as in ``engine.Engine.change``
    :param weighs_others: whether to find which leases of other projects an extension would delay
    """
    lease, document = site.work.leases[lease_id], site.work.documents[lease_id]
    allocations = _allocations(site, document, lease)
    shown = _dated(lease_document(lease, document), lease)
    current = Proposal(shown, lease.request, site.work.now, allocations, _live(site, document))
    given = {key: value for key, value in changes.items() if key != "version"}
    extension = None if lease.is_offered else _extension(lease, document, request)
    if extension is not None and weighs_others:
        extension = replace(
            extension,
            delayed=_delayed(site, document, request, least),
            waiting=sum(_waits(each) for each in _of_others(site, document)),
        )
    return ChangeProposal(current, given, request, extension)


def _extension(lease: Lease, document: LeaseDocument, request: LeaseRequest) -> Extension | None:
    """Return what new terms add to the time of a lease, or None if they add nothing."""
    before = lease.request.duration
    if request.duration <= before:
        return None
    cut = document.extensions.cut(before)
    end = planned_end(lease)
    return Extension(request.duration - before, document.extensions, None if end is None else end + cut, cut)


def _waits(lease: Lease) -> bool:
    """Return whether a lease waits for hosts, for all of its work or for the rest that is not planned yet."""
    if lease.is_offered or lease.kind.promises_interval:
        return False
    return lease.state in _WAITING or (bool(lease.holdings) and lease.holdings[-1].closing is Closing.SUSPEND)


def _of_others(site: SitePlan, document: LeaseDocument) -> list[Lease]:
    """Return the live leases of other projects."""
    work = site.work
    return [work.leases[key] for key, other in work.documents.items() if other.project_id != document.project_id]


def _delayed(site: SitePlan, document: LeaseDocument, request: LeaseRequest, least: tuple[int, ...] | None) -> int:
    """Return how many leases of other projects would lose time by a change; 0 if the plan refuses the change anyway."""
    try:
        _, lost = site.engine.quote_change(document.lease_id, request, least=least)
    except NotPlannableError:
        return 0
    own = document.project_id
    return sum(site.work.documents[each].project_id != own for each in lost)


def keep_message(site: SitePlan) -> Callable[[Message], None]:
    """Return a function that stores messages for filters, each in its own transaction."""

    def keep(message: Message) -> None:
        with site.transaction():
            site.work.notify(message)

    return keep


def report_ends(site: SitePlan) -> None:
    """Write a message for filters in the same transaction in which a lease ends."""

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


def _live(site: SitePlan, document: LeaseDocument) -> list[tuple[Lease, LeaseDocument]]:
    """Return the other live leases of the project, without those for maintenance, which no limit counts."""
    work = site.work
    return [
        (work.leases[lease_id], other)
        for lease_id, other in work.documents.items()
        if other.project_id == document.project_id
        and lease_id in work.leases
        and lease_id != document.lease_id
        and not other.maintenance
    ]


def _allocations(site: SitePlan, document: LeaseDocument, lease: Lease) -> Mapping[str, Sequence[dict[str, Any]]]:
    """Return by reservation what it holds now or, before its start, first."""
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
