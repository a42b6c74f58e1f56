"""The engine's orders to the cloud: intents, which are written before they are carried out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from lease_scheduler.engine.interfaces import UNAWAITED, CloudEvent, Operation, OperationKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.writes import StoreChanges


class Intents:
    """The cloud and the carrier of images as the engine sees them. No call reaches the real cloud.

    :param next_intent: number of the next intent
    :param changes: returns the changes of the current transaction, to which intents are added
    :param learn: called with the aggregates of a lease's reservations
    :param on_over: called with the lease of an intent that is over
    """

    def __init__(
        self,
        next_intent: int,
        changes: Callable[[], StoreChanges],
        learn: Callable[[str, Mapping[str, int]], None],
        on_over: Callable[[str], None],
    ) -> None:
        self._next_intent = next_intent
        self._changes = changes
        self._learn = learn
        self._on_over = on_over
        self._open: dict[str, list[Intent]] = {}
        # Leases that may have something on hosts, and leases for which a stop operation was begun.
        self._touched: set[str] = set()
        self._stopping: set[str] = set()
        self._transfers: list[Transfer] = []
        self._lock = Lock()
        self._reports: deque[tuple[Intent | None, CloudEvent | None]] = deque()
        self._aggregates: dict[str, Mapping[str, int]] = {}

    def restore(self, intents: Iterable[Intent], leases: Mapping[str, Lease]) -> None:
        """Start with the intents in a store.

        :param leases: the live leases
        """
        for intent in intents:
            self._restore(intent, leases)
        self._touched = {
            lease.lease_id
            for lease in leases.values()
            if lease.started is not None or lease.is_prepared or lease.lease_id in self._open
        }
        self._stopping = {
            intent.lease_id
            for of_lease in self._open.values()
            for intent in of_lease
            if intent.operation is not None and intent.operation.kind is OperationKind.STOP
        }

    def _restore(self, intent: Intent, leases: Mapping[str, Lease]) -> None:
        """Resume an intent, unless it no longer matters: its lease has ended, or is being destroyed."""
        if intent.operation is not None and intent.lease_id not in leases:
            self._changes().over.append(intent.intent_id)
            return
        if intent.operation is None:
            given_up = self._open.pop(intent.lease_id, [])
            self._changes().over += [earlier.intent_id for earlier in given_up]
        self._open.setdefault(intent.lease_id, []).append(intent)

    def has_touched(self, lease_id: str) -> bool:
        """Return whether a lease may have something on hosts."""
        return lease_id in self._touched

    def is_stopping(self, lease_id: str) -> bool:
        """Return whether a stop operation was begun for a lease."""
        return lease_id in self._stopping

    def forget(self, lease_id: str) -> None:
        """Note that the end of a lease has been written."""
        self._stopping.discard(lease_id)

    def begin(self, operation: Operation) -> None:
        """Write an intent for an operation, to be carried out afterwards (engine.interfaces.Cloud)."""
        if operation.kind is OperationKind.STOP:
            self._touched.discard(operation.lease_id)
            self._stopping.add(operation.lease_id)
        else:
            self._touched.add(operation.lease_id)
        self._add(Intent(self._next_intent, operation.lease_id, operation))

    def bring(self, transfer: Transfer, now: int) -> None:
        """Bring a disk image to hosts after the transaction (engine.interfaces.ImageCarrier).

        The transfer is not stored: an engine that takes over repeats those that it still needs.
        """
        self._transfers.append(transfer)

    def take_transfers(self) -> list[Transfer]:
        """Return the transfers to begin now."""
        transfers, self._transfers = self._transfers, []
        return transfers

    def discard(self, lease_id: str, now: int) -> None:
        """Destroy everything of a lease in the cloud, superseding its other intents."""
        self._touched.discard(lease_id)
        self._add(Intent(self._next_intent, lease_id, None))

    def _add(self, intent: Intent) -> None:
        self._next_intent += 1
        self._changes().begun.append(intent)
        self._open.setdefault(intent.lease_id, []).append(intent)

    def report(self, intent: Intent | None, event: CloudEvent | None) -> None:
        """Note an event in the cloud. May be called from any thread.

        :param intent: the intent that is over because of it, or None
        :param event: what the engine must know, or None
        """
        with self._lock:
            self._reports.append((intent, event))

    def learn_aggregates(self, lease_id: str, ids: Mapping[str, int]) -> None:
        """Note the aggregates of reservations, to be written with the next step. May be called from any thread.

        :param ids: aggregate id by reservation
        """
        with self._lock:
            self._aggregates[lease_id] = ids

    @property
    def has_reports(self) -> bool:
        """Whether there are events that were not taken yet."""
        return bool(self._reports)

    def take_events(self, now: int) -> list[CloudEvent]:
        """Return the events that were not taken yet, without those of operations that a later one has superseded."""
        with self._lock:
            reports, self._reports = self._reports, deque()
            aggregates, self._aggregates = self._aggregates, {}
        for lease_id, ids in aggregates.items():
            self._learn(lease_id, ids)
        events = []
        for intent, event in reports:
            if intent is not None:
                open_intents = self._open.get(intent.lease_id, [])
                awaited = [
                    other.intent_id
                    for other in open_intents
                    if other.intent_id == intent.intent_id
                    or other.operation is None
                    or other.operation.kind not in UNAWAITED
                ]
                is_last = bool(awaited) and awaited[-1] == intent.intent_id
                left = [other for other in open_intents if other.intent_id != intent.intent_id]
                self._open[intent.lease_id] = left
                if not left:
                    del self._open[intent.lease_id]
                self._changes().over.append(intent.intent_id)
                self._on_over(intent.lease_id)
                if not is_last:
                    continue
            if event is not None:
                events.append(event)
        return events

    def open_intents(self) -> list[Intent]:
        """Return the intents that the cloud has not reported as over, in the order of their numbers."""
        return sorted(
            (intent for intents in self._open.values() for intent in intents), key=lambda intent: intent.intent_id
        )
