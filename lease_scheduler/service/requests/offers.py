"""Leases that are held for a project until it accepts them."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.terms import lease_document, numbered
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.approvals import check_acceptance, check_answer
from lease_scheduler.service.requests.change_checks import check_change
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.lease_documents import LeaseDocuments
from lease_scheduler.service.requests.server_groups import ServerGroups
from lease_scheduler.service.telling.notifications import document_message


class Offers:
    """Operations that accept, reject and change offers.

    :param site: the plan of the site
    :param enforcement: limits and filters that are checked before a lease is changed
    """

    def __init__(self, site: SiteTransactions, enforcement: Enforcement) -> None:
        self._site = site
        self._enforcement = enforcement
        self._documents = LeaseDocuments(site)
        self._groups = ServerGroups(site)

    @answers(EngineRequests.accept_lease)
    def accept(self, context: Document, lease_id: str, trust_id: str | None = None) -> Document:
        """Accept a lease that is held for its project.

        :param trust_id: trust for a replacement or counter-offer of a managed lease, which has none of its own yet
        :raises RefusedError: it is not held, or no longer
        """
        site = self._site
        with site.inquiry(context):
            self._check_offered(lease_id)
            check_acceptance(site, site.work.leases[lease_id], site.work.documents[lease_id])
            asked = lease_document(site.work.leases[lease_id], site.work.documents[lease_id])
        # Outside of a transaction, as the cloud may take long.
        groups = self._groups.missing(asked if trust_id is None else {**asked, "trust_id": trust_id})
        try:
            with site.request(context):
                self._check_offered(lease_id)
                check_acceptance(site, site.work.leases[lease_id], site.work.documents[lease_id])
                site.work.asked_by(context, lease_id)
                document = site.work.documents[lease_id].with_term("server_group_id", groups)
                if trust_id is not None:
                    document = replace(document, trust_id=trust_id)
                document = replace(document, updated_at=site.work.now)
                # Both must be stored before the lease may start, because the start uses them.
                site.work.put_document(document)
                site.engine.accept(lease_id)
                site.work.note(site.work.leases[lease_id], "accepted")
                # The notification carries the state after acceptance.
                site.settle()
                site.work.notify(document_message("lease.update", site.work.leases[lease_id], document, site.work.now))
                return {"lease_id": lease_id}
        except BaseException:
            if groups:
                self._groups.remove(groups.values())
            raise

    @answers(EngineRequests.reject_lease)
    def reject(self, context: Document, lease_id: str) -> Document:
        """Reject a lease that is held for its project.

        :raises RefusedError: it is not held, or no longer
        """
        with self._site.request(context):
            self._check_offered(lease_id)
            check_answer(self._site.work.leases[lease_id])
            self._site.work.asked_by(context, lease_id)
            self._site.engine.reject(lease_id)
            return {}

    @answers(EngineRequests.counter_offer)
    def counter(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Change the terms of a lease that is held for its project.

        :raises RefusedError: it is not held, or there is no place for the new terms. It then stays as it was
        """
        enforcement = self._enforcement
        with enforcement.one_at_a_time(self._documents.of(lease_id).project_id, context.get("expires")):
            if enforcement.is_on:
                check_change(self._site, enforcement, context, lease_id, changes)
            with self._site.request(context):
                self._site.work.asked_by(context, lease_id)
                return self._counter(lease_id, changes)

    def _counter(self, lease_id: str, changes: Document) -> Document:
        site = self._site
        lease, document = self._documents.expected(lease_id, changes)
        self._check_offered(lease_id)
        request, terms = self._documents.new_terms(lease, document, changes)
        least = terms.least if changes.get("reservations") else None
        value = site.engine.counter(lease_id, request, least)
        updated = numbered(
            replace(self._documents.renewed(document, terms, changes), updated_at=site.work.now), value.request
        )
        updated = site.ends.moved(updated, value, changes.get("before_end"))
        site.work.put_document(updated)
        site.work.note_change(value, lease_document(lease, document), lease_document(value, updated))
        site.work.note_price(lease, value)
        site.work.notify(document_message("lease.update", value, updated, site.work.now))
        return {"lease_id": lease_id}

    def _check_offered(self, lease_id: str) -> None:
        lease = self._site.work.leases.get(lease_id)
        if lease is None or not lease.is_offered:
            raise RefusedError(
                409, f"lease {lease_id} is not an open quote: it was accepted, is over, or never was one"
            )
