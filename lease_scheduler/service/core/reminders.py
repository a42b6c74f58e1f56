"""Reminders for projects: when they are sent, and those that a lease starts soon or will be preempted.

``service.core.before_end`` has the reminders before its end.
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
    """An occasion for reminders."""

    def due(self, lease_id: str) -> int | None:
        """Return the instant at which the reminder for a lease is due, or None if there is none or it was sent."""
        ...

    def remind(self, lease_id: str, now: int) -> None:
        """Send the reminder. ``due`` does not return its instant after that."""
        ...


class Reminders:
    """Sends the reminders of an occasion when they are due.

    A change of a lease removes nothing from the heap, so entries may be stale. The occasion decides which are valid.

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
    """The time before the start of a lease when its project is told, or at once if the start is nearer than that.

    The document of the lease says of which start its project was told. Another start gets a reminder of its own. Offers
    get none, since only accepted leases start for certain.

    :param seconds: seconds from the reminder to the start; 0 for no reminders
    """

    def __init__(self, work: UnitOfWork, seconds: int) -> None:
        self._work = work
        self._seconds = seconds

    def due(self, lease_id: str) -> int | None:
        """Return the instant of the reminder, or None if there is no start to come or the project was told of it."""
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

    Warnings are not stored, so an engine that takes over repeats them. This is better than a missing warning.

    :param seconds: seconds from the warning to the preemption; 0 for no warnings
    """

    def __init__(self, work: UnitOfWork, seconds: int) -> None:
        self._work = work
        self._seconds = seconds
        #: Lease -> instant of the preemption that its project was warned of.
        self._told: dict[str, int] = {}

    def due(self, lease_id: str) -> int | None:
        """Return the instant of the warning, or None if the lease is not preempted or its project was warned."""
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
    """Return when a running lease is preempted, or None if it runs to its end."""
    return None if lease.active_since is None else preempted_at(lease)
