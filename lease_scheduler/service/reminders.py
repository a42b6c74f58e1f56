"""Reminders about leases that fall due at an instant: that a lease ends soon, or that it has to make room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from heapq import heappop, heappush
from typing import Protocol

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.notifications import document_message
from lease_scheduler.service.unit_of_work import UnitOfWork

#: The servers of a lease will be put away, or lost, because others need its hosts.
PREEMPTION_WARNING = "lease.event.preemption_warning"

#: A lease in these states has not started, so there is no end to be told of yet.
_NOT_STARTED = frozenset({LeaseState.NEW, LeaseState.PENDING, LeaseState.QUEUED})


class Occasion(Protocol):
    """What a project is reminded of."""

    def due(self, lease_id: str) -> int | None:
        """Return the instant at which a reminder is due, or None if there is none, or it was sent."""
        ...

    def remind(self, lease_id: str, now: int) -> None:
        """Send the reminder; ``due`` then no longer returns this one."""
        ...


class Reminders:
    """Finds the reminders that are due.

    Nothing is taken from the heap when a lease changes: entries may be stale, and the occasion says what is true.

    :param occasion: what is reminded of
    :param lease_ids: leases that may be reminded of it
    """

    def __init__(self, occasion: Occasion, lease_ids: Iterable[str] = ()) -> None:
        self._occasion = occasion
        self._heap: list[tuple[int, str]] = []
        for lease_id in lease_ids:
            self.note(lease_id)

    def note(self, lease_id: str) -> None:
        """Look at a lease whose reminder may be due at another instant than before."""
        due = self._occasion.due(lease_id)
        if due is not None:
            heappush(self._heap, (due, lease_id))

    def next_due(self) -> int | None:
        """Return the instant at which the next reminder is due, or None."""
        while self._heap:
            due, lease_id = self._heap[0]
            if self._occasion.due(lease_id) == due:
                return due
            heappop(self._heap)
        return None

    def send(self, now: int) -> None:
        """Send the reminders that are due."""
        while (due := self.next_due()) is not None and due <= now:
            self._occasion.remind(heappop(self._heap)[1], now)


class BeforeEnd:
    """Some time before a lease ends its project is told, and images are made (Blazar's ``before_end_lease``).

    That it was told is kept with the lease. Leases that have not started by then have no end to be told of.

    :param is_busy: whether the cloud is carrying something out for a lease
    :param saves_by_default: whether images are made for reservations that leave that to the operator
    """

    def __init__(
        self, work: UnitOfWork, is_busy: Callable[[str], bool] = lambda _: False, *, saves_by_default: bool = False
    ) -> None:
        self._work = work
        self._is_busy = is_busy
        self._saves_by_default = saves_by_default

    def due(self, lease_id: str) -> int | None:
        """Return the instant that the lease's document has, unless its project was told."""
        document = self._work.documents.get(lease_id)
        return None if document is None or document.before_end_done else document.before_end

    def remind(self, lease_id: str, now: int) -> None:
        """Have images made, and tell the project."""
        lease = self._work.leases[lease_id]
        document = replace(self._work.documents[lease_id], before_end_done=True)
        self._work.put_document(document)
        if lease.state not in _NOT_STARTED:
            self._save(lease, document, now)
            self._work.notify(document_message("lease.event.before_end_lease", lease, document, now))

    def _save(self, lease: Lease, document: LeaseDocument, now: int) -> None:
        """Have images made of the servers of a lease that asks for them.

        What cannot be done now, because the lease is being started or suspended, is done at its end.
        """
        if (
            lease.active_since is not None
            and not self._is_busy(lease.lease_id)
            and document.saved_nodes(by_default=self._saves_by_default)
        ):
            hosts = lease.holdings[0].assignment
            self._work.intents.begin(Operation(OperationKind.SNAPSHOT, lease.lease_id, hosts, now, now))


class PreemptionWarnings:
    """Some time before a running lease has to make room its project is told; at short notice, at once.

    What was told is not kept: an engine that takes over tells once more, which is better than not at all.

    :param seconds: how long before its servers are put away; 0 for never
    """

    def __init__(self, work: UnitOfWork, seconds: int) -> None:
        self._work = work
        self._seconds = seconds
        #: The instant of preemption that was told, by lease.
        self._told: dict[str, int] = {}

    def due(self, lease_id: str) -> int | None:
        """Return the instant of the warning, unless the lease need not make room or its project was told."""
        lease = self._work.leases.get(lease_id)
        instant = None if lease is None else preempted_at(lease)
        if instant is None:
            # When it has to make room another time, that is news.
            self._told.pop(lease_id, None)
            return None
        return instant - self._seconds if self._seconds and self._told.get(lease_id) != instant else None

    def remind(self, lease_id: str, now: int) -> None:
        """Tell the project when its servers are put away, and how."""
        lease = self._work.leases[lease_id]
        instant = preempted_at(lease)
        assert instant is not None
        self._told[lease_id] = instant
        message = document_message(PREEMPTION_WARNING, lease, self._work.documents[lease_id], now)
        said = {"preempted_at": instant, "preemption_mode": lease.request.preemption_mode.value}
        self._work.notify(replace(message, payload={**message.payload, **said}))


def preempted_at(lease: Lease) -> int | None:
    """Return when the servers of a running lease are put away or lost; None if it runs to its end."""
    if lease.active_since is None or not lease.holdings:
        return None
    first = lease.holdings[0]
    return None if first.closing is Closing.SHUTDOWN else first.run_end
