"""Quotes: what a request would come to, without reserving anything."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.model.lease import UNLIMITED, Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.planned_end import latest_end, planned_end, preempted_at
from lease_scheduler.model.providers import together
from lease_scheduler.model.resources import HOST_SHARE
from lease_scheduler.plan.explaining.advice import Alternative, Flexibility
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.plan.explaining.trials import kinds_of
from lease_scheduler.plan.explaining.windows import Windows
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.units import Units
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.pool_choice import everywhere
from lease_scheduler.service.core.refusals import alternatives, reason_for
from lease_scheduler.service.core.terms import node_set_of
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.approvals import need_of_new
from lease_scheduler.service.requests.change_checks import check_change
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.enforcement.base import Account
from lease_scheduler.service.requests.enforcement.proposals import account_of
from lease_scheduler.service.requests.known_flavors import learn_flavors
from lease_scheduler.service.requests.lease_documents import LeaseDocuments


class Quotes:
    """Operations that tell what would be granted, when, and at which price.

    :param site: the plan of the site
    :param enforcement: limits and filters that are checked before a lease is changed
    """

    def __init__(self, site: SiteTransactions, enforcement: Enforcement | None = None) -> None:
        self._site = site
        self._enforcement = enforcement or Enforcement()
        self._documents = LeaseDocuments(site)

    @answers(EngineRequests.quote_lease)
    def quote(self, context: Document, lease: Document) -> Document:
        """Return what ``Leases.create`` would grant, without reserving anything."""
        site = self._site
        site.images.learn(lease.get("servers") or ())
        learn_flavors(site.driver.flavors, lease)
        with site.inquiry(context):
            terms = self._documents.terms(lease)
            found = site.engine.quote(terms.request, terms.least)
            account = self._account(terms.document)
            refusal = None if found.refusal is None else everywhere(found.refusal, terms)
            approval = None
            if refusal is None:
                try:
                    approval = need_of_new(site, terms.document, terms.request, offered=False) or None
                except NoPlaceError as error:
                    refusal = error.refusal
            if refusal is not None or found.lease is None:
                return {
                    "granted": False,
                    "reason": "" if refusal is None else reason_for(context, refusal),
                    "reason_code": None if refusal is None else refusal.reason,
                    "start": None,
                    "end": None,
                    "hosts": [],
                    "preempts": [],
                    "preempted_kinds": {},
                    "alternatives": [] if refusal is None else alternatives(refusal),
                    "queue_position": None,
                    "price": found.price,
                    "nodes": [],
                    "pool": lease.get("pool"),
                    "promise": None,
                    "budget": None,
                    "approval": None,
                }
            answer = {
                **granted(site.store.units, found.lease),
                "preempts": list(found.preempted),
                "preempted_kinds": dict(found.preempted_kinds),
                "queue_position": found.queue_position,
                "approval": approval,
            }
        return {**answer, "budget": self._statement(account, found.lease)}

    def _account(self, document: LeaseDocument, *, without: str = "") -> Account | None:
        """Return the account of the project of a lease, or None if no filter asks for it; within a transaction."""
        if document.maintenance or not self._enforcement.weighs_plan:
            return None
        return account_of(self._site, document.project_id, without=without)

    def _statement(self, account: Account | None, lease: Lease) -> list[Document] | None:
        """Return what would be left of budgets; outside of a transaction, as that may take long."""
        return None if account is None else self._enforcement.statement(account, lease)

    def near(self, context: Document, lease: Document, flexibility: Flexibility) -> tuple[Alternative, ...]:
        """Return the terms near those of a lease that would be granted, nearest first; empty if its own would be."""
        site = self._site
        with site.inquiry(context):
            terms = self._documents.terms(lease)
            found = site.engine.quote(terms.request, terms.least)
            if found.refusal is None:
                return ()
            return site.engine.alternatives(terms.request, found.refusal, flexibility)

    @answers(EngineRequests.quote_change)
    def quote_change(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Return what ``Leases.update`` would grant: the answer of ``quote`` and the present price.

        Filters that keep count are not asked, as they would count it.

        :raises RefusedError: there is no such live lease, a term cannot be changed, or a filter refuses
        """
        site = self._site
        if self._enforcement.is_on:
            check_change(site, self._enforcement, context, lease_id, changes, is_quote=True)
        with site.inquiry(context):
            lease, document = self._documents.expected(lease_id, changes)
            present = {"present_price": lease.grant.price}
            account = self._account(document, without=lease_id)
            try:
                request, terms = self._documents.new_terms(lease, document, changes)
                least = terms.least if changes.get("reservations") else None
                value, preempted = site.engine.quote_change(lease_id, request, least=least)
            except NoPlaceError as error:
                refusal = error.refusal
                return {
                    **granted(site.store.units, lease),
                    "granted": False,
                    "reason": reason_for(context, refusal),
                    "reason_code": refusal.reason,
                    "alternatives": alternatives(refusal),
                    "price": None,
                    "budget": None,
                    **present,
                }
            kinds = kinds_of(site.work.leases[each] for each in preempted)
            answer = {
                **granted(site.store.units, value),
                "preempts": list(preempted),
                "preempted_kinds": dict(kinds),
                **present,
            }
        return {**answer, "budget": self._statement(account, value)}

    @answers(EngineRequests.availability)
    def availability(self, context: Document, query: Document) -> Document:
        """Return when a reservation of these nodes would be granted, and when they are free without preemption."""
        site = self._site
        with site.inquiry(context):
            name = site.pools.named(query.get("pool"))
            pool = site.pool(name, hides_private=not context.get("sees_site"))
            node_set: NodeSet = node_set_of({**query["nodes"], "count": query["count"]}, pool, "nodes")
            found = site.engine.room(name, node_set, query["start"], query["end"], query["duration"])
            return {**_windows(found.reservable), "free": _windows(found.free)}


def granted(units: Units, lease: Lease) -> Document:
    """Return the answer for a lease that has a place."""
    held, endless = lease.holdings, lease.request.duration >= UNLIMITED
    return {
        "granted": True,
        "reason": "",
        "reason_code": None,
        "start": held[0].run_start if held else None,
        "end": None if endless else planned_end(lease),
        "preempted_at": preempted_at(lease),
        "latest_end": None if endless else latest_end(lease),
        "hosts": units.ids(held[0].assignment) if held else [],
        "preempts": [],
        "preempted_kinds": {},
        "alternatives": [],
        "queue_position": None,
        "price": lease.grant.price,
        "nodes": [_granted_nodes(node_set) for node_set in lease.request.nodes],
        "pool": lease.request.pool,
        "promise": _promise(lease),
    }


def _promise(lease: Lease) -> Document | None:
    """Return the promised lifetime of a lease, or None if it asks for no promise."""
    request, grant, held = lease.request, lease.grant, lease.holdings
    if request.min_lifetime is None:
        return None
    return {
        "min_lifetime": request.min_lifetime,
        "assurance": request.assurance,
        "assured": None if grant.assured is None else grant.assured.value,
        "assured_from": grant.assured_from,
        "planned_lifetime": grant.planned_lifetime,
        "begin": held[0].run_start if held else None,
    }


def _granted_nodes(node_set: NodeSet) -> Document:
    """Return the number and size of the nodes of a set: the smallest size, if it asks for a range."""
    needs = together(node_set.smallest, (group.resources for group in node_set.groups))
    resources = {name: amount for name, amount in needs.items() if name != HOST_SHARE}
    return {"count": node_set.count, "resources": resources}


def _windows(found: Windows) -> Document:
    windows = [
        {"start": each.start, "end": each.end, "count": each.count, "preempted": dict(each.preempted)}
        for each in found.windows
    ]
    return {"windows": windows, "earliest": found.earliest}
