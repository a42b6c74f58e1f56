"""Everything that the engine does in one step, written in one transaction and then carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from lease_scheduler.model.breach import Breach, BreachKind
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.occupation import occupation
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.history import Actor, BreachRecord, RevenueRecord, Transition, UsageRecord
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.messages import Message
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.arrival_book import ArrivalBook
from lease_scheduler.service.core.changed_terms import changed_terms
from lease_scheduler.service.core.history import move_of, reason_of
from lease_scheduler.service.core.intents import Intents
from lease_scheduler.service.core.terms import numbered
from lease_scheduler.service.telling.notifications import approval_message, document_message, transition_message

#: Name of a counter and pool -> what was counted.
Counted = Counter[tuple[str, str | None]]
#: Kind, origin and pool -> number of refused requests.
Refused = Counter[tuple[LeaseKind, str | None, str | None]]

#: Final state -> outcome in the revenue record of the lease.
_OUTCOMES = {
    LeaseState.DONE: "earned",
    LeaseState.REJECTED: "rejected",
    LeaseState.REJECTED_BY_USER: "rejected_by_user",
}


class StepClock:
    """Clock that stands still within a step, so that a request that starts now is not late when it is planned."""

    def __init__(self, work: UnitOfWork) -> None:
        self._work = work

    def now(self) -> int:
        """Return the instant of the step."""
        return self._work.now


class UnitOfWork:
    """The changes of one transaction: collected during a step of the engine, and handed over by ``take``.

    The engine uses it as its store and its recorder (``engine.interfaces``). ``intents`` collects the orders to the
    cloud into the same transaction. The rest of the service adds notes, messages and documents.

    :param next_intent: number of the next intent
    :ivar intents: the cloud, and the carrier of images, as the engine sees them
    :ivar leases: live leases by id
    :ivar documents: their documents by id
    """

    def __init__(self, next_intent: int) -> None:
        self.documents: dict[str, LeaseDocument] = {}
        self.leases: dict[str, Lease] = {}
        self._counts: Counted = Counter()
        self._refusals: Refused = Counter()
        #: Leases whose terms cannot be kept, with their documents, until replacements are offered.
        self.lost_terms: dict[str, tuple[Lease, LeaseDocument]] = {}
        self._changes = StoreChanges(0)
        # Leases for which somebody requests something in this step.
        self._asked: dict[str, Actor] = {}
        self.intents = Intents(next_intent, lambda: self._changes, self._learn_aggregates, self._has_left)
        # Leases of which nothing has been written yet.
        self._new: set[str] = set()
        # Leases that were held, and were accepted in this step.
        self._accepted: set[str] = set()
        #: What is known of the requests that arrive.
        self.arrivals = ArrivalBook({})
        # Documents of leases that have ended and are still being removed.
        self._leaving: dict[str, LeaseDocument] = {}
        #: Returns the message for filters that a lease has ended, or None. Arguments: the last value of the lease, the
        #: one before, its document.
        self.at_end: Callable[[Lease, Lease | None, LeaseDocument], Message | None] = lambda *_: None
        #: The instant of the current step.
        self.now = 0
        #: Returns the capacity of a host, by its number.
        self.capacity_of: Callable[[int], Mapping[str, int]] = dict[int, Mapping[str, int]]().__getitem__

        #: Returns the name of a host, by its number.
        self.name_of: Callable[[int], str] = str

    def restore(
        self, leases: Iterable[Lease], documents: Mapping[str, LeaseDocument], intents: Iterable[Intent]
    ) -> None:
        """Start from the contents of a store."""
        self.leases = {lease.lease_id: lease for lease in leases}
        self.documents = {lease_id: documents[lease_id] for lease_id in self.leases}
        self._leaving = {key: document for key, document in documents.items() if key not in self.leases}
        self.intents.restore(intents, self.leases)

    # -- what the rest of the service adds ----------------------------------------------------------------

    @property
    def changes(self) -> StoreChanges:
        """The changes collected so far."""
        return self._changes

    def document_of(self, lease_id: str) -> LeaseDocument | None:
        """Return the document of a lease that is live or being removed, or None."""
        return self.documents.get(lease_id) or self._leaving.get(lease_id)

    def _learn_aggregates(self, lease_id: str, ids: Mapping[str, int]) -> None:
        known = self.documents.get(lease_id)
        if known is not None and (changed := known.with_term("aggregate_id", ids)) is not known:
            self.put_document(changed)

    def _has_left(self, lease_id: str) -> None:
        self._leaving.pop(lease_id, None)

    def put_document(self, document: LeaseDocument) -> None:
        """Store a new value of a lease's document."""
        self.documents[document.lease_id] = document
        if document.lease_id in self.leases:
            self._changes.leases[document.lease_id] = self.leases[document.lease_id]

    def note(self, lease: Lease, reason: str) -> None:
        """Add an entry to the history of a lease without a change of its state."""
        state = lease.state.value
        self._changes.transitions.append(
            Transition(lease.lease_id, self.now, state, state, reason, self._asked.get(lease.lease_id))
        )

    def asked_by(self, context: Mapping[str, Any], lease_id: str) -> None:
        """Record in the history who asked for what happens to a lease in the rest of this step.

        :param context: the context of the request
        """
        if context.get("user_id") and context.get("project_id"):
            self._asked[lease_id] = Actor(context["user_id"], context["project_id"])

    def note_change(self, lease: Lease, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Add an entry to the history of a lease with the differences between two documents of it, if there are any."""
        changed = changed_terms(before, after)
        if changed:
            self.note(lease, changed)

    def note_price(self, before: Lease, after: Lease) -> None:
        """Add an entry to the history of a lease whose price has changed."""
        old, new = before.grant.price, after.grant.price
        if old is not None and new is not None and old != new:
            self.note(after, f"its price is {new:.12g}; it was {old:.12g}")

    def notify(self, message: Message) -> None:
        """Send a notification."""
        self._changes.messages.append(message)

    def take(self, now: int) -> tuple[StoreChanges, list[Intent]]:
        """Return the changes to write and the intents in them to carry out, and start collecting anew."""
        for lease_id in [key for key, lease in self._changes.leases.items() if self._leaves_something(lease)]:
            self.intents.discard(lease_id, now)
        changes, self._changes = self._changes, StoreChanges(0)
        self._asked.clear()
        changes.instant = now
        changes.revenue += [record for lease in changes.leases.values() for record in self._revenue(lease)]
        refused = [lease_id for lease_id, lease in changes.leases.items() if self._was_refused(lease)]
        self.arrivals.learn(self._granted({*self._new, *self._accepted} - {*refused}, changes), changes)
        self._new.clear()
        self._accepted.clear()
        for lease_id in refused:
            request = changes.leases.pop(lease_id).request
            self._refusals[request.kind, request.origin, request.pool] += 1
        gone = set(refused)
        changes.transitions = [entry for entry in changes.transitions if entry.lease_id not in gone]
        changes.messages = [entry for entry in changes.messages if entry.payload.get("lease_id") not in gone]
        changes.documents = {lease_id: self.documents[lease_id] for lease_id in changes.leases}
        removed = {intent.lease_id for intent in changes.begun if intent.operation is None}
        for lease_id, lease in changes.leases.items():
            if lease.is_final:
                self.leases.pop(lease_id, None)
                document = self.documents.pop(lease_id)
                if lease_id in removed:
                    self._leaving[lease_id] = document
                self.intents.forget(lease_id)
        for lease_id in gone:
            self.leases.pop(lease_id, None)
            self.documents.pop(lease_id, None)
        # An intent that began and ended within this step need not be written.
        over = set(changes.over)
        begun = [intent for intent in changes.begun if intent.intent_id not in over]
        changes.over = sorted(over - {intent.intent_id for intent in changes.begun})
        changes.begun = begun
        return changes, begun

    def take_counts(self) -> tuple[Counted, Refused]:
        """Return the counters of the engines, and the refused requests, since the last call."""
        counts, self._counts = self._counts, Counter()
        refusals, self._refusals = self._refusals, Counter()
        return counts, refusals

    def _was_refused(self, lease: Lease) -> bool:
        """Return whether the request was refused, so that it never was a lease."""
        if lease.state is LeaseState.REJECTED_BY_USER:
            return lease.lease_id in self._new
        return lease.state is LeaseState.REJECTED and lease.started is None

    def _granted(self, candidates: Set[str], changes: StoreChanges) -> list[LeaseRequest]:
        """Return the requests that were granted in this step, in the order of their leases, without maintenances.

        :param candidates: leases that are new and were not refused, or that were held and are accepted
        """
        return [
            lease.request
            for lease_id, lease in changes.leases.items()
            if lease_id in candidates and not lease.is_offered and lease.request.nodes
            if not self.documents[lease_id].maintenance
        ]

    def _revenue(self, lease: Lease) -> list[RevenueRecord]:
        """Return the revenue record of a lease that has ended; empty if no price was involved."""
        price, most, pool = lease.grant.price, lease.request.max_price, lease.request.pool
        outcome = _OUTCOMES.get(lease.state)
        if outcome is None or lease.ended is None or (price is None and most is None):
            return []
        project_id = self.documents[lease.lease_id].project_id
        return [RevenueRecord(lease.lease_id, project_id, lease.ended, outcome, price, most, pool)]

    def _leaves_something(self, lease: Lease) -> bool:
        """Return whether an ended lease may have left something in the cloud that no other intent removes."""
        lease_id = lease.lease_id
        if not lease.is_final or self._was_refused(lease):
            return False
        if self.intents.has_touched(lease_id):
            # Its servers may be gone already, but the capacity that the cloud keeps for them is not.
            return True
        if any(intent.lease_id == lease_id and intent.operation is None for intent in self._changes.begun):
            return False
        document = self.documents[lease_id]
        if self.intents.is_stopping(lease_id):
            # Images are made of stopped servers after the stop, because its hosts belong to other leases then.
            return document.wants_images
        return document.has_something_in_the_cloud

    # -- store (engine.interfaces.Store) ------------------------------------------------------------------

    def save(self, lease: Lease) -> None:
        """Store a new value of a lease."""
        lease_id = lease.lease_id
        before = self.leases.get(lease_id)
        if before is not None and before.request is not lease.request:
            self._follow_counts(before, lease)
        if before is None:
            self._new.add(lease_id)
        elif before.is_offered and not lease.is_offered and not lease.is_final:
            self._accepted.add(lease_id)
        self.leases[lease_id] = lease
        self._changes.leases[lease_id] = lease
        state_before = LeaseState.NEW if before is None else before.state
        if state_before is not lease.state:
            self._changes.transitions.append(
                Transition(
                    lease_id,
                    self.now,
                    state_before.value,
                    lease.state.value,
                    reason_of(before, lease, self.leases.values(), self.documents),
                    self._asked.get(lease_id),
                )
            )
            document = self.documents[lease_id]
            self._changes.messages.append(transition_message(lease, document, state_before, self.now))
            at_end = self.at_end(lease, before, document) if lease.is_final else None
            if at_end is not None:
                self._changes.messages.append(at_end)
        moved = move_of(before, lease, self.leases.values(), self.documents, self.name_of)
        if moved:
            # After the transition, so that each entry begins with the state in which the one before it ended.
            self.note(lease, moved)
        told = approval_message(before, lease, self.documents[lease_id], self.now)
        if told is not None:
            self._changes.messages.append(told)

    def _follow_counts(self, before: Lease, lease: Lease) -> None:
        """Renumber the nodes of reservations if the number of nodes of a queued lease has changed."""
        counts = [[node_set.count for node_set in each.request.nodes] for each in (before, lease)]
        if counts[0] != counts[1]:
            self.documents[lease.lease_id] = numbered(self.documents[lease.lease_id], lease.request)

    def load(self) -> Iterable[Lease]:
        """Return all live leases, in the order of submission."""
        return sorted(self.leases.values(), key=lambda lease: lease.sequence)

    # -- recorder (engine.interfaces.Recorder) ------------------------------------------------------------

    def occupied(self, lease: Lease, phase: str, start: int, end: int, assignment: tuple[int, ...]) -> None:
        """Record that a lease held hosts in ``[start, end)``."""
        if end <= start:
            return
        document = self.documents[lease.lease_id]
        nodes, resources = occupation(
            [(node_set.count, node_set.needs) for node_set in lease.request.nodes],
            [self.capacity_of(host) for host in assignment],
        )
        self._changes.usage.append(
            UsageRecord(
                lease_id=lease.lease_id,
                project_id=document.project_id,
                kind=lease.kind.value,
                phase=phase,
                start=start,
                end=end,
                nodes=nodes,
                resources=resources,
                hosts=assignment,
                pool=lease.request.pool,
            )
        )

    def count(self, what: str, number: int = 1, pool: str | None = None) -> None:
        """Add to a counter.

        :param pool: name of the pool in which it happened; None if the site has only one
        """
        self._counts[what, pool] += number

    def hosts_lost(self, lease: Lease, vms: tuple[int, ...], *, replaced: bool) -> None:
        """Notify the project that hosts of its running lease failed, and whether they were replaced."""
        document = self.documents[lease.lease_id]
        reservations = tuple(
            replace(
                record,
                missing_resources=record.missing_resources if replaced else True,
                resources_changed=True if replaced else record.resources_changed,
            )
            if any(record.first_node <= vm < record.first_node + record.node_count for vm in vms)
            else record
            for record in document.reservations
        )
        if replaced:
            # A replacement covers everything that was missing.
            reservations = tuple(replace(record, missing_resources=False) for record in reservations)
        self._tell_of_hosts(lease, replace(document, degraded=not replaced, reservations=reservations))

    def hosts_whole(self, lease: Lease) -> None:
        """Notify the project that the failed hosts of its running lease are back."""
        document = self.documents[lease.lease_id]
        if document.degraded:
            reservations = tuple(replace(record, missing_resources=False) for record in document.reservations)
            self._tell_of_hosts(lease, replace(document, degraded=False, reservations=reservations))

    def waits_with_saved_work(self, lease: Lease) -> None:
        """Notify the project that its lease cannot resume yet, as its saved state is on a failed host."""
        document = self.documents[lease.lease_id]
        known = self.leases.get(lease.lease_id)
        if known is not None and known.state is lease.state:
            self.note(lease, lease.reason)
        is_breach = any(record.breach.lease_id == lease.lease_id for record in self._changes.breaches)
        if is_breach or not document.degraded:
            self._tell_of_hosts(lease, replace(document, degraded=True))

    def terms_lost(self, lease: Lease) -> None:
        """Note that the terms of a lease that has not started cannot be kept."""
        self.lost_terms[lease.lease_id] = (lease, self.documents[lease.lease_id])

    def breached(self, lease: Lease, breach: Breach) -> None:
        """Record a breach of a lease."""
        document = self.documents[lease.lease_id]
        self._changes.breaches.append(BreachRecord(document.project_id, breach))
        if breach.kind is BreachKind.PREEMPTED_EARLY:
            self.notify(document_message("lease.promise_broken", lease, document, self.now))

    def _tell_of_hosts(self, lease: Lease, document: LeaseDocument) -> None:
        self.put_document(document)
        what = "lease.degraded" if document.degraded else "lease.healed"
        self.notify(document_message(what, lease, document, self.now))
