"""Everything that the engine does in one step, to be written in one transaction and then carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import Lease, LeaseKind
from lease_scheduler.model.occupation import occupation
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.history import BreachRecord, RevenueRecord, Transition, UsageRecord
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.messages import Message
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.history import move_of, reason_of
from lease_scheduler.service.intents import Intents
from lease_scheduler.service.notifications import document_message, transition_message

#: What is told of money where a lease is over -> of which ends.
_OUTCOMES = {
    LeaseState.DONE: "earned",
    LeaseState.REJECTED: "rejected",
    LeaseState.REJECTED_BY_USER: "rejected_by_user",
}


class StepClock:
    """Stands still within a step of the engine, so that what is asked for "now" is not late when it is planned."""

    def __init__(self, work: UnitOfWork) -> None:
        self._work = work

    def now(self) -> int:
        """The instant of the step."""
        return self._work.now


class UnitOfWork:
    """What is written in one transaction: collected while the engine takes a step, and handed over by ``take``.

    For the engine it is the store of leases and the recorder (``engine.interfaces``). ``intents`` collects what the
    engine wants of the cloud, into the same transaction. The rest of the service adds notes, messages and documents.

    :param next_intent: number of the next intent
    :ivar intents: the cloud, and the carrier of images, as the engine sees them
    :ivar leases: live leases by id
    :ivar documents: what projects say of them, by id
    """

    def __init__(self, next_intent: int) -> None:
        self.documents: dict[str, LeaseDocument] = {}
        self.leases: dict[str, Lease] = {}
        self._counts: Counter[str] = Counter()
        self._refusals: Counter[LeaseKind] = Counter()
        #: Leases whose terms cannot be kept, with what their consumers say of them, until others are offered.
        self.lost_terms: dict[str, tuple[Lease, LeaseDocument]] = {}
        self._changes = StoreChanges(0)
        self.intents = Intents(next_intent, lambda: self._changes, self._learn_aggregates, self._has_left)
        # Those of which nothing has been written yet.
        self._new: set[str] = set()
        # Those that had come to their end before this engine took over, but are still being removed.
        self._leaving: dict[str, LeaseDocument] = {}
        #: The message that a lease has come to its end, none if nobody wants to know: of its last value, the one
        #: before, and its document.
        self.at_end: Callable[[Lease, Lease | None, LeaseDocument], Message | None] = lambda *_: None
        #: The instant of the step that is collected.
        self.now = 0
        #: What the host of a number has.
        self.capacity_of: Callable[[int], Mapping[str, int]] = dict[int, Mapping[str, int]]().__getitem__

        #: What the host of a number is called.
        self.name_of: Callable[[int], str] = str

    def restore(
        self, leases: Iterable[Lease], documents: Mapping[str, LeaseDocument], intents: Iterable[Intent]
    ) -> None:
        """Begin with what a store had kept."""
        self.leases = {lease.lease_id: lease for lease in leases}
        self.documents = {lease_id: documents[lease_id] for lease_id in self.leases}
        self._leaving = {key: document for key, document in documents.items() if key not in self.leases}
        self.intents.restore(intents, self.leases)

    # -- what the rest of the service adds ----------------------------------------------------------------

    @property
    def changes(self) -> StoreChanges:
        """What has been collected."""
        return self._changes

    def document_of(self, lease_id: str) -> LeaseDocument | None:
        """What a tenant says of a lease that is live or being removed; none if that is not known any more."""
        return self.documents.get(lease_id) or self._leaving.get(lease_id)

    def _learn_aggregates(self, lease_id: str, ids: Mapping[str, int]) -> None:
        known = self.documents.get(lease_id)
        if known is not None and (changed := known.with_term("aggregate_id", ids)) is not known:
            self.put_document(changed)

    def _has_left(self, lease_id: str) -> None:
        self._leaving.pop(lease_id, None)

    def put_document(self, document: LeaseDocument) -> None:
        """Keep a new value of what a tenant says of a lease."""
        self.documents[document.lease_id] = document
        if document.lease_id in self.leases:
            self._changes.leases[document.lease_id] = self.leases[document.lease_id]

    def note(self, lease: Lease, reason: str) -> None:
        """Have something written in the history of a lease that is no change of its state."""
        self._changes.transitions.append(
            Transition(lease.lease_id, self.now, lease.state.value, lease.state.value, reason)
        )

    def notify(self, message: Message) -> None:
        """Have a notification sent."""
        self._changes.messages.append(message)

    def take(self, now: int) -> tuple[StoreChanges, list[Intent]]:
        """What is to be written, and the intents in it that are then to be carried out; collecting begins anew."""
        for lease_id in [key for key, lease in self._changes.leases.items() if self._leaves_something(lease)]:
            self.intents.discard(lease_id, now)
        changes, self._changes = self._changes, StoreChanges(0)
        changes.instant = now
        changes.revenue += [record for lease in changes.leases.values() for record in self._revenue(lease)]
        refused = [lease_id for lease_id, lease in changes.leases.items() if self._was_refused(lease)]
        self._new.clear()
        for lease_id in refused:
            self._refusals[changes.leases.pop(lease_id).kind] += 1
        gone = set(refused)
        changes.transitions = [entry for entry in changes.transitions if entry.lease_id not in gone]
        changes.messages = [entry for entry in changes.messages if entry.payload.get("lease_id") not in gone]
        changes.documents = {lease_id: self.documents[lease_id] for lease_id in changes.leases}
        for lease_id, lease in changes.leases.items():
            if lease.is_final:
                self.leases.pop(lease_id, None)
                self.documents.pop(lease_id, None)
                self.intents.forget(lease_id)
        for lease_id in gone:
            self.leases.pop(lease_id, None)
            self.documents.pop(lease_id, None)
        # What was begun and is over within the same step needs not be written.
        over = set(changes.over)
        begun = [intent for intent in changes.begun if intent.intent_id not in over]
        changes.over = sorted(over - {intent.intent_id for intent in changes.begun})
        changes.begun = begun
        return changes, begun

    def take_counts(self) -> tuple[Counter[str], Counter[LeaseKind]]:
        """What the engine has counted, and how many requests of which kind were refused, since the last call."""
        counts, self._counts = self._counts, Counter()
        refusals, self._refusals = self._refusals, Counter()
        return counts, refusals

    def _was_refused(self, lease: Lease) -> bool:
        """Whether it never was a lease: its consumer is told so by the answer to his request."""
        if lease.state is LeaseState.REJECTED_BY_USER:
            return lease.lease_id in self._new
        return lease.state is LeaseState.REJECTED and lease.started is None

    def _revenue(self, lease: Lease) -> list[RevenueRecord]:
        """What is to be told of money when a lease is over."""
        request, outcome = lease.request, _OUTCOMES.get(lease.state)
        if outcome is None or lease.ended is None or (request.price is None and request.max_price is None):
            return []
        project_id = self.documents[lease.lease_id].project_id
        return [RevenueRecord(lease.lease_id, project_id, lease.ended, outcome, request.price, request.max_price)]

    def _leaves_something(self, lease: Lease) -> bool:
        """Whether something of a lease that is over may be in the cloud which nothing else removes."""
        lease_id = lease.lease_id
        if not lease.is_final or self._was_refused(lease):
            return False
        if self.intents.has_touched(lease_id):
            # Its servers may be gone already; what was held for them is not.
            return True
        is_removed = self.intents.is_stopping(lease_id) or any(
            intent.lease_id == lease_id and intent.operation is None for intent in self._changes.begun
        )
        return self.documents[lease_id].has_something_in_the_cloud and not is_removed

    # -- store (engine.interfaces.Store) ------------------------------------------------------------------

    def save(self, lease: Lease) -> None:
        """Keep a new value of a lease."""
        lease_id = lease.lease_id
        before = self.leases.get(lease_id)
        if before is None:
            self._new.add(lease_id)
        self.leases[lease_id] = lease
        self._changes.leases[lease_id] = lease
        moved = move_of(before, lease, self.leases.values(), self.documents, self.name_of)
        if moved:
            self.note(lease, moved)
        state_before = LeaseState.NEW if before is None else before.state
        if state_before is not lease.state:
            self._changes.transitions.append(
                Transition(
                    lease_id,
                    self.now,
                    state_before.value,
                    lease.state.value,
                    reason_of(before, lease, self.leases.values(), self.documents),
                )
            )
            document = self.documents[lease_id]
            self._changes.messages.append(transition_message(lease, document, state_before, self.now))
            at_end = self.at_end(lease, before, document) if lease.is_final else None
            if at_end is not None:
                self._changes.messages.append(at_end)

    def load(self) -> Iterable[Lease]:
        """Every live lease, in the order of submission."""
        return sorted(self.leases.values(), key=lambda lease: lease.sequence)

    # -- recorder (engine.interfaces.Recorder) ------------------------------------------------------------

    def occupied(self, lease: Lease, phase: str, start: int, end: int, assignment: tuple[int, ...]) -> None:
        """A lease held hosts in ``[start, end)``."""
        if end <= start:
            return
        document = self.documents[lease.lease_id]
        nodes, resources = occupation(
            [(node_set.count, node_set.resources) for node_set in lease.request.nodes],
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
            )
        )

    def count(self, what: str, number: int = 1) -> None:
        """Something countable happened."""
        self._counts[what] += number

    def hosts_lost(self, lease: Lease, vms: tuple[int, ...], *, replaced: bool) -> None:
        """Hosts of a running lease failed; its consumer is told what became of them."""
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
            # All that was missing has been found.
            reservations = tuple(replace(record, missing_resources=False) for record in reservations)
        self._tell_of_hosts(lease, replace(document, degraded=not replaced, reservations=reservations))

    def hosts_whole(self, lease: Lease) -> None:
        """Hosts of a running lease are back."""
        document = self.documents[lease.lease_id]
        if document.degraded:
            reservations = tuple(replace(record, missing_resources=False) for record in document.reservations)
            self._tell_of_hosts(lease, replace(document, degraded=False, reservations=reservations))

    def waits_with_saved_work(self, lease: Lease) -> None:
        """The saved memory of a lease cannot be brought back for now; its owner is told."""
        document = self.documents[lease.lease_id]
        known = self.leases.get(lease.lease_id)
        if known is not None and known.state is lease.state:
            self.note(lease, lease.reason)
        is_breach = any(record.breach.lease_id == lease.lease_id for record in self._changes.breaches)
        if is_breach or not document.degraded:
            self._tell_of_hosts(lease, replace(document, degraded=True))

    def terms_lost(self, lease: Lease) -> None:
        """The terms of a lease that has not begun cannot be kept."""
        self.lost_terms[lease.lease_id] = (lease, self.documents[lease.lease_id])

    def breached(self, lease: Lease, breach: Breach) -> None:
        """A term of a lease was not kept."""
        self._changes.breaches.append(BreachRecord(self.documents[lease.lease_id].project_id, breach))

    def _tell_of_hosts(self, lease: Lease, document: LeaseDocument) -> None:
        self.put_document(document)
        what = "lease.degraded" if document.degraded else "lease.healed"
        self.notify(document_message(what, lease, document, self.now))
