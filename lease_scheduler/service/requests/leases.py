"""Operations of projects on leases. The answers are plain values that fit into JSON."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from lease_scheduler.model.approval import Approval
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import HAS_ENDED, ID_IS_TAKEN, WITHDRAWN, InvalidValueError, RefusedError
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.plan.explaining.trials import kinds_of, loses
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.records.attributes import REMARKS, TERMS, values
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.history import RevenueRecord
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.changed_terms import in_utc
from lease_scheduler.service.core.pool_choice import everywhere, reason_in
from lease_scheduler.service.core.reminders import stopped_at
from lease_scheduler.service.core.terms import Terms, lease_document, numbered
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.approvals import check_waiting, need_of_new
from lease_scheduler.service.requests.change_checks import check_change
from lease_scheduler.service.requests.enforcement import Enforcement, Proposal
from lease_scheduler.service.requests.enforcement.proposals import new_proposal
from lease_scheduler.service.requests.known_flavors import learn_flavors
from lease_scheduler.service.requests.lease_documents import LeaseDocuments
from lease_scheduler.service.requests.offer_limits import check_held, offer_time
from lease_scheduler.service.requests.quotes import granted
from lease_scheduler.service.requests.server_groups import ServerGroups, are_wanted
from lease_scheduler.service.telling.notifications import BEFORE_END_STOPPED, document_message

LOG = logging.getLogger(__name__)

#: Fields of a request that have another name in a lease document.
_KEYS = {"start": "start_date"}

#: Keys of a lease document that concern the plan and may be changed.
_TERMS = frozenset({"start", "end", "duration", "deadline", "reservations", *(each.name for each in TERMS)})
#: Attributes that are stored beside the terms and may be changed.
_REMARKS = tuple(each for each in REMARKS if each.changed is not None)
#: Reasons that the API gives for a deletion if the caller gives none.
_BY_ITS_PROJECT = ("deleted by its project", "cancelled by its project")


class Leases:
    """Operations that create, change and end leases.

    :param site: the plan of the site
    :param enforcement: limits and filters that are checked before a lease is made or changed
    """

    def __init__(self, site: SiteTransactions, enforcement: Enforcement) -> None:
        self._site = site
        self._enforcement = enforcement
        self._documents = LeaseDocuments(site)
        self._groups = ServerGroups(site)

    # -- making ----------------------------------------------------------------------------------------------

    @answers(EngineRequests.create_lease)
    def create(self, context: Document, lease: Document) -> Document:
        """Admit and plan a lease.

        :raises RefusedError: there is no place for it, it is not allowed, or it costs more than the project would pay
        """
        return self._make(context, lease, offered=False)

    def offer(self, context: Document, lease: Document) -> Document:
        """Hold a lease for its project until it accepts. Return the answer of ``quote`` and the id.

        :param lease: may have a ``negotiation_id``, shared with other offers
        :raises RefusedError: as in ``create``, or this lease cannot be held
        """
        return self._make(context, lease, offered=True)

    def _make(self, context: Document, lease: Document, *, offered: bool) -> Document:
        enforcement, site = self._enforcement, self._site
        site.images.learn(lease.get("servers") or ())
        learn_flavors(site.driver.flavors, lease)
        with enforcement.one_at_a_time(lease["project_id"], context.get("expires")), ExitStack() as asked:
            is_asked = enforcement.is_on and not lease.get("maintenance")
            groups: list[str] = []
            budget: list[Document] | None = None
            # Filters and server groups may take long, so they are asked outside of a transaction, and the engine works
            # on meanwhile. The terms are therefore built again afterwards, from the state at that time.
            if is_asked or are_wanted(lease):
                with site.request(context):
                    is_new = self._again(lease, offered=offered) is None
                    proposal = self._proposal(context, lease, offered=offered) if is_new and is_asked else None
                if proposal is not None:
                    asked.enter_context(enforcement.creation(context, proposal))
                    # The filters have agreed to this pool.
                    lease = {**lease, "pool": proposal.request.pool}
                    if offered and proposal.account is not None:
                        budget = enforcement.statement(proposal.account, proposal.planned)
                if is_new:
                    lease, groups = self._groups.given(lease)
            try:
                with site.request(context):
                    again = self._again(lease, offered=offered)
                    if again is None:
                        answer = self._create(context, lease, self._documents.terms(lease), offered=offered)
                    else:
                        answer = again
                if again is None:
                    groups = []
                return {**answer, "budget": budget} if offered else answer
            finally:
                # Groups left over: the lease was refused, or a repetition of this request has made it meanwhile.
                if groups:
                    self._groups.remove(groups)

    def _proposal(self, context: Document, lease: Document, *, offered: bool) -> Proposal:
        """Return the proposal that filters check.

        :raises RefusedError: there is no place, so there is nothing to check
        """
        site = self._site
        terms = self._documents.terms(lease)
        found = site.engine.quote(terms.request, terms.least)
        if found.price is not None and found.refusal is not None:
            # The pricing policy must learn that its price was declined.
            self._create(context, lease, terms, offered=offered)
        if found.refusal is not None:
            self._note_missed(terms)
            raise NoPlaceError(everywhere(found.refusal, terms))
        assert found.lease is not None
        document = numbered(terms.document, found.lease.request)
        return new_proposal(site, lease, document, found.lease, weighs_plan=self._enforcement.weighs_plan)

    def _note_missed(self, terms: Terms) -> None:
        """Record the missed revenue of a lease without a place, if its project named a maximum price."""
        request, work = terms.request, self._site.work
        if request.max_price is not None:
            project_id = terms.document.project_id
            missed = RevenueRecord(
                request.lease_id, project_id, work.now, "rejected", None, request.max_price, request.pool
            )
            work.changes.revenue.append(missed)

    def _again(self, lease: Document, *, offered: bool) -> Document | None:
        """Return the answer to a repeated request whose lease was already made, or None if the request is new.

        :raises RefusedError: 409, another request has made a lease with this id, or the request was given up
        """
        work, store, lease_id = self._site.work, self._site.store, lease["id"]
        if lease_id not in work.leases and not store.has_lease(lease_id):
            if self._site.records.withdrawn.has(lease_id, work.now):
                raise RefusedError(409, WITHDRAWN, "id", reason=RefusalReason.ID_TAKEN)
            return None
        document = work.documents.get(lease_id)
        digest = store.request_digest(lease_id) if document is None else document.request_digest
        if digest != lease.get("request_digest"):
            raise RefusedError(409, ID_IS_TAKEN, "id", reason=RefusalReason.ID_TAKEN)
        # The lease may have ended since.
        made = work.leases.get(lease_id)
        if not offered:
            return {"lease_id": lease_id}
        if made is None:
            raise RefusedError(409, HAS_ENDED, "id", reason=RefusalReason.ID_TAKEN)
        return self._offer_of(made, ())

    def _create(self, context: Document, lease: Document, terms: Terms, *, offered: bool) -> Document:
        site, negotiation = self._site, lease.get("negotiation_id")
        if offered:
            check_held(site, terms.document.project_id, terms.request.origin)
        why = need_of_new(site, terms.document, terms.request, offered=offered, negotiation=negotiation)
        if why:
            check_waiting(site, terms.document.project_id)
        hold_time = site.options.approval.hold_time if why else offer_time(site, lease)
        before = dict(site.work.leases) if offered else {}
        site.work.documents[terms.document.lease_id] = terms.document
        site.work.asked_by(context, terms.document.lease_id)
        try:
            site.engine.submit(
                terms.request,
                terms.least,
                offered_for=hold_time if offered or why else None,
                negotiation=negotiation,
                approval=Approval.AWAITING if why else None,
            )
        except InvalidValueError as error:
            del site.work.documents[terms.document.lease_id]
            raise InvalidValueError(_KEYS.get(error.field, error.field), error.problem) from error
        # The answer depends on whether the lease was admitted and placed.
        site.settle()
        made = site.work.leases[terms.request.lease_id]
        if made.state in (LeaseState.REJECTED, LeaseState.REJECTED_BY_USER):
            site.engine.forget_refused(made.lease_id)
        if made.state is LeaseState.REJECTED_BY_USER:
            raise RefusedError(409, reason_in(made), "max_price", reason=RefusalReason.PRICE)
        if made.state is LeaseState.REJECTED:
            refusal = self._refusal(terms)
            if refusal is not None:
                raise NoPlaceError(refusal)
            raise RefusedError(409, reason_in(made), reason=RefusalReason.POLICY)
        if made.state is LeaseState.FAILED:
            raise RefusedError(409, reason_in(made), reason=RefusalReason.START)
        site.work.put_document(site.ends.granted(numbered(terms.document, made.request), terms.request, made))
        if made.offered_until is not None:
            held_for = f"approval, as {why}," if why else "its project"
            site.work.note(made, f"held for {held_for} until {in_utc(made.offered_until)}")
        if not offered:
            return {"lease_id": made.lease_id}
        after = site.work.leases
        return self._offer_of(made, [old for key, old in before.items() if key in after and loses(old, after[key])])

    def _offer_of(self, lease: Lease, preempted: Sequence[Lease]) -> Document:
        """Return the answer for a lease that is held."""
        return {
            **granted(self._site.store.units, lease),
            "preempts": [each.lease_id for each in preempted],
            "preempted_kinds": dict(kinds_of(preempted)),
            "lease_id": lease.lease_id,
            "expires_at": lease.offered_until,
        }

    def _refusal(self, terms: Terms) -> Refusal | None:
        """Return why there is no place, with alternatives, by asking for a quote of the same terms."""
        other = replace(terms.request, lease_id=f"{terms.request.lease_id}?")
        refusal = self._site.engine.quote(other, terms.least).refusal
        return None if refusal is None else everywhere(refusal, terms)

    # -- changing --------------------------------------------------------------------------------------------

    @answers(EngineRequests.update_lease)
    def update(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Change the name of a lease, or any term that its state allows.

        :raises RefusedError: there is no place for the new terms, or no such lease
        """
        if set(changes) & _TERMS:
            self._site.images.learn(self._documents.of(lease_id).servers)
            learn_flavors(self._site.driver.flavors, changes)
        if not self._enforcement.is_on or not set(changes) - {"name", "version"}:
            return self._update(context, lease_id, changes)
        with self._enforcement.one_at_a_time(self._documents.of(lease_id).project_id, context.get("expires")):
            check_change(
                self._site,
                self._enforcement,
                context,
                lease_id,
                changes,
                changes_terms=bool(set(changes) & _TERMS),
            )
            return self._update(context, lease_id, changes)

    def _update(self, context: Document, lease_id: str, changes: Document) -> Document:
        site = self._site
        with site.request(context):
            before, document = self._documents.expected(lease_id, changes)
            lease, asked = before, lease_document(before, document)
            site.work.asked_by(context, lease_id)
            updated = replace(document, updated_at=site.work.now, **values(_REMARKS, changes))
            if set(changes) & _TERMS:
                lease, updated = self._change_terms(lease, updated, changes)
            updated = site.ends.moved(updated, lease, changes.get("before_end"))
            if lease_id in site.work.documents:
                site.work.put_document(updated)
            site.work.note_change(lease, asked, lease_document(lease, updated))
            site.work.note_price(before, lease)
            self._notify_updated(lease, document, updated)
            return {"lease_id": lease_id}

    def _notify_updated(self, lease: Lease, before: LeaseDocument, after: LeaseDocument) -> None:
        """Announce that a lease was changed, and withdraw an announcement of its end that came too early."""
        work = self._site.work
        work.notify(document_message("lease.update", lease, after, work.now))
        if before.before_end_done and not after.before_end_done:
            work.notify(document_message(BEFORE_END_STOPPED, lease, after, work.now))

    def _change_terms(self, lease: Lease, document: LeaseDocument, changes: Document) -> tuple[Lease, LeaseDocument]:
        site = self._site
        request, terms = self._documents.new_terms(lease, document, changes)
        named = {each["id"] for each in changes.get("reservations") or ()}
        change = site.engine.change(lease.lease_id, request, least=terms.least if named else None)
        self._follow(change)
        renewed = self._documents.renewed(document, terms, changes)
        if not lease.is_offered:
            # Counted in the transaction of the change, so that a change that is not written does not count.
            extensions = document.extensions.changed(lease.request.duration, change.after.request.duration)
            renewed = replace(renewed, extensions=extensions)
        return change.after, numbered(renewed, change.after.request)

    def _follow(self, change: Change) -> None:
        """Make the cloud follow changed terms of a lease whose servers run.

        If the hosts change, the engine does this itself.
        """
        before, after = change.before, change.after
        if after.active_since is None or after.is_final or not after.holdings:
            return
        if before.active_since is None or before.holdings[0].assignment == after.holdings[0].assignment:
            self._site.adjust(after)

    @answers(EngineRequests.end_lease)
    def end(self, context: Document, lease_id: str) -> Document:
        """End a lease before its planned end."""
        with self._site.request(context):
            by_provider = _is_provider(context, self._documents.of(lease_id), self._site.work.leases[lease_id])
            self._site.work.asked_by(context, lease_id)
            ended_by = "an administrator" if by_provider else "its project"
            self._site.engine.end(lease_id, f"ended by {ended_by}", by_provider=by_provider)
            return {}

    @answers(EngineRequests.withdraw_request)
    def withdraw(self, context: Document, lease_id: str) -> Document:
        """Give up the request with an id, which may still be on its way.

        :raises RefusedError: 409, it has arrived, and its lease lives
        """
        site = self._site
        with site.request(context):
            lease = site.work.leases.get(lease_id)
            if lease is not None and not lease.is_final:
                raise RefusedError(409, "id: is that of a lease; end the lease instead", "id")
            if lease is None and not site.store.has_lease(lease_id):
                site.records.withdrawn.add(lease_id, context["project_id"], site.work.now, site.work.changes)
        return {}

    @answers(EngineRequests.ready_lease)
    def ready(self, context: Document, lease_id: str) -> Document:
        """Suspend a lease whose project was warned of its preemption, without waiting for the rest of the warning."""
        site = self._site
        with site.request(context):
            self._documents.of(lease_id)
            lease = site.work.leases[lease_id]
            site.work.asked_by(context, lease_id)
            if lease.state is LeaseState.SUSPENDING:
                # The answer came twice, or just too late.
                return {}
            instant = stopped_at(lease)
            if instant is None or site.work.now < instant - site.options.preemption_warning:
                raise RefusedError(409, "ready: its project has not been warned that it will be preempted", "ready")
            try:
                site.engine.suspend_now(lease_id)
            except NotPlannableError as error:
                raise RefusedError(409, f"ready: {error}", "ready") from error
        return {}

    @answers(EngineRequests.delete_lease)
    def delete(self, context: Document, lease_id: str, reason: str) -> Document:
        """Cancel the rest of a lease and remove it from lists."""
        site = self._site
        with site.request(context):
            if lease_id not in site.work.leases:
                site.work.changes.deleted[lease_id] = site.work.now
                return {}
            document = self._documents.of(lease_id)
            site.work.asked_by(context, lease_id)
            deleted = replace(document, deleted_at=site.work.now, updated_at=site.work.now)
            site.work.put_document(deleted)
            by_provider = _is_provider(context, document, site.work.leases[lease_id])
            if by_provider and reason in ("", *_BY_ITS_PROJECT):
                reason = "deleted by an administrator"
            site.engine.cancel(lease_id, reason or "deleted by its project", by_provider=by_provider)
            # The notification carries the state after deletion.
            site.settle()
            site.work.notify(document_message("lease.delete", site.work.leases[lease_id], deleted, site.work.now))
        return {}

    @answers(EngineRequests.move_lease)
    def move(self, context: Document, lease_id: str, hosts_away: list[str]) -> Document:
        """Move a lease to hosts other than the named ones.

        :param hosts_away: ids or names of hosts
        """
        site = self._site
        with site.request(context):
            self._documents.of(lease_id)
            site.work.asked_by(context, lease_id)
            by_id = {str(host_id): host.name for host_id, host in site.records.hosts.items()}
            names = frozenset(by_id.get(host, host) for host in hosts_away)
            if context.get("sees_site"):
                unknown = names - set(by_id.values())
                if unknown:
                    raise RefusedError(404, f"there is no host {sorted(unknown)[0]} in the pool", "hosts")
            else:
                # Projects must not learn what else is in the pool.
                held = {number for each in site.work.leases[lease_id].holdings for number in each.hosts}
                own = {site.engine.site.hosts[number].name for number in held}
                foreign = [host for host in hosts_away if by_id.get(host, host) not in own]
                if foreign:
                    raise RefusedError(404, f"the lease is not on host {foreign[0]}", "hosts")
            self._follow(site.engine.move(lease_id, names))
            return {"lease_id": lease_id}


def _is_provider(context: Document, document: LeaseDocument, lease: Lease) -> bool:
    """Return whether an administrator acts in another project than that of a lease, and not as its peer."""
    is_peer = lease.request.origin is not None and lease.request.origin == context.get("origin")
    return bool(context.get("is_admin")) and not is_peer and context.get("project_id") != document.project_id
