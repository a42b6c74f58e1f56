"""Asks the filters about a change of a lease, and finds a shorter extension if they refuse only its length."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.plan.explaining.trials import kinds_of
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.enforcement.base import ChangeProposal, ShorterExtensionError
from lease_scheduler.service.requests.enforcement.proposals import change_proposal
from lease_scheduler.service.requests.lease_documents import LeaseDocuments


def check_change(
    site: SiteTransactions,
    enforcement: Enforcement,
    context: Document,
    lease_id: str,
    changes: Document,
    *,
    changes_terms: bool = True,
    is_quote: bool = False,
) -> None:
    """Ask the filters whether a live lease may be changed. Outside of a transaction, as filters may take long.

    :param changes_terms: whether any of the changes concerns the plan
    :param is_quote: whether the change is only quoted
    :raises RefusedError: a filter refuses, with a shorter extension as an alternative if that would be granted; or the
        plan refuses, so that a filter that weighs the plan has nothing to check
    :raises EngineUnavailableError: a filter cannot decide at present
    """
    documents = LeaseDocuments(site)
    with site.inquiry(context):
        lease, document = documents.expected(lease_id, changes)
        if document.maintenance:
            return
        request, least = lease.request, None
        if changes_terms:
            request, terms = documents.new_terms(lease, document, changes)
            least = terms.least if changes.get("reservations") else None
        proposal = _proposal(site, enforcement, lease_id, changes, request, least)
    try:
        enforcement.check_update(context, proposal, is_quote=is_quote)
    except ShorterExtensionError as error:
        shorter = _shortened(proposal, error.added)
        found: list[Document] = []
        if shorter is not None:
            found = _granted(site, enforcement, context, lease_id, changes, shorter, least)
        raise RefusedError(error.code, error.message, error.field, found, reason=error.reason) from error
    if enforcement.weighs_plan and proposal.planned is None and not is_quote:
        # The change may fit by now, but no filter has checked it.
        with site.inquiry(context):
            site.engine.quote_change(lease_id, request, least=least)
        raise EngineUnavailableError("the plan has changed while the change was being checked; try again")


def _proposal(
    site: SiteTransactions,
    enforcement: Enforcement,
    lease_id: str,
    changes: Document,
    request: LeaseRequest,
    least: tuple[int, ...] | None,
) -> ChangeProposal:
    weighs_others, weighs_plan = enforcement.weighs_others, enforcement.weighs_plan
    return change_proposal(
        site, lease_id, changes, request, least, weighs_others=weighs_others, weighs_plan=weighs_plan
    )


def _shortened(proposal: ChangeProposal, added: int) -> LeaseRequest | None:
    """Return the terms of a change with a shorter extension, or None if the filter would allow none."""
    if not added:
        return None
    return replace(proposal.request, duration=proposal.current.request.duration + added)


def _granted(
    site: SiteTransactions,
    enforcement: Enforcement,
    context: Document,
    lease_id: str,
    changes: Document,
    request: LeaseRequest,
    least: tuple[int, ...] | None,
) -> list[Document]:
    """Return a change with other terms as an alternative, or nothing if the plan or a filter would refuse it."""
    with site.inquiry(context):
        if lease_id not in site.work.leases:
            return []
        try:
            value, preempted = site.engine.quote_change(lease_id, request, least=least)
        except NotPlannableError:
            return []
        kinds = kinds_of(site.work.leases[each] for each in preempted)
        proposal = _proposal(site, enforcement, lease_id, changes, request, least)
    try:
        # As for a quote, because filters that keep count must not count what is only suggested.
        enforcement.check_update(context, proposal, is_quote=True)
    except RefusedError:
        return []
    if not value.holdings:
        return []
    start = value.holdings[0].run_start if value.started is None else value.started
    return [
        {
            "change": "duration",
            "start": start,
            "end": planned_end(value),
            "count": value.request.node_count,
            "preempted": dict(kinds),
        }
    ]
