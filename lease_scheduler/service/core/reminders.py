"""Reminders for projects: when they are due, and those before the start and before the preemption of a lease.

``service.core.before_end`` has the reminders before the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from heapq import heappop, heappush
from typing import Protocol

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.planned_end import preempted_at
from lease_scheduler.service.core.unit_of_work import UnitOfWork
from lease_scheduler.service.telling.notifications import document_message

#: Event type: a running lease will be preempted, so its servers will be suspended or lost.
PREEMPTION_WARNING = "lease.event.preemption_warning"

#: Event type: a lease will start.
BEFORE_START = "lease.event.before_start_lease"


class Occasion(Protocol):
    """An occasion for reminders, such as the start of a lease."""

    def due(self, lease_id: str) -> int | None:
        """Return the instant at which the reminder for a lease is due, or None if there is none or it was sent."""
        ...

    def remind(self, lease_id: str, now: int) -> None:
        """Send the reminder. ``due`` does not return its instant after that."""
        ...


class Reminders:
    """The due reminders of an occasion, in a heap.

    A change of a lease removes nothing from the heap, so entries may be stale. ``Occasion.due`` tells which are valid.

    :param occasion: the occasion
    :param lease_ids: leases that may have a reminder
    """

    def __init__(self, occasion: Occasion, lease_ids: Iterable[str] = ()) -> None:
        self._occasion = occasion
        self._heap: list[tuple[int, str]] = []
        for lease_id in lease_ids:
            self.note(lease_id)

    def note(self, lease_id: str) -> None:
        """Note a lease whose reminder may be due at a new instant."""
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


class BeforeStart:
    """Reminders some time before the starts of leases, or at once if a start is nearer than that.

    The document of the lease has the start of which its project was told; if the start moves, it is told again. Offers
    get no reminder, as an offer that is not accepted does not start.

    :param seconds: seconds from the reminder to the start; 0 for no reminders
    """

    def __init__(self, work: UnitOfWork, seconds: int) -> None:
        self._work = work
        self._seconds = seconds

    def due(self, lease_id: str) -> int | None:
        """Return the instant of the reminder, or None if there is no future start or the project was told of it."""
        lease, document = self._work.leases.get(lease_id), self._work.documents.get(lease_id)
        if not self._seconds or lease is None or document is None:
            return None
        if lease.started is not None or lease.is_offered or not lease.holdings:
            return None
        start = lease.holdings[0].run_start
        return start - self._seconds if start > self._work.now and document.reminded_start != start else None

    def remind(self, lease_id: str, now: int) -> None:
        """Tell the project."""
        lease = self._work.leases[lease_id]
        document = replace(self._work.documents[lease_id], reminded_start=lease.holdings[0].run_start)
        self._work.put_document(document)
        self._work.notify(document_message(BEFORE_START, lease, document, now))


class PreemptionWarnings:
    """Warnings to projects some time before a running lease is preempted, or at once if that is too soon.

    Which warnings were sent is not stored, so an engine that takes over repeats them. That is better than to miss one.

    :param seconds: seconds from the warning to the preemption; 0 for no warnings
    """

    def __init__(self, work: UnitOfWork, seconds: int) -> None:
        self._work = work
        self._seconds = seconds
        #: Lease -> instant of the preemption that its project was warned of.
        self._told: dict[str, int] = {}

    def due(self, lease_id: str) -> int | None:
        """Return the instant of the warning, or None if no preemption is planned or the project was warned of it."""
        lease = self._work.leases.get(lease_id)
        instant = None if lease is None else stopped_at(lease)
        if instant is None:
            # Another preemption of the lease gets a warning of its own.
            self._told.pop(lease_id, None)
            return None
        return instant - self._seconds if self._seconds and self._told.get(lease_id) != instant else None

    def remind(self, lease_id: str, now: int) -> None:
        """Warn the project, and say when and how the lease is preempted."""
        lease = self._work.leases[lease_id]
        instant = stopped_at(lease)
        assert instant is not None
        self._told[lease_id] = instant
        message = document_message(PREEMPTION_WARNING, lease, self._work.documents[lease_id], now)
        said = {"preempted_at": instant, "preemption_mode": lease.request.preemption_mode.value}
        self._work.notify(replace(message, payload={**message.payload, **said}))


def stopped_at(lease: Lease) -> int | None:
    """Return the instant at which a running lease is preempted, or None if it is not running or runs to its end."""
    return None if lease.active_since is None else preempted_at(lease)
