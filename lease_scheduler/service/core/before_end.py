"""The instant before the end of a lease at which its project is told and images are made (``before_end_lease``).

The event is Blazar's. The document of the lease has the instant. It moves whenever the lease gets another start or end:
by a change, by a counter-offer, or because the plan displaces the lease.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.core.unit_of_work import UnitOfWork
from lease_scheduler.service.telling.notifications import BEFORE_END_STOPPED, document_message

#: Event type: a lease will end.
BEFORE_END = "lease.event.before_end_lease"

#: A lease in these states has no place yet, so there is no end to announce.
_NOT_STARTED = frozenset({LeaseState.NEW, LeaseState.PENDING, LeaseState.QUEUED})


@dataclass(frozen=True)
class Span:
    """The time from the start of a lease to its end, in seconds since the epoch."""

    start: int
    end: int


def promised_span(request: LeaseRequest) -> Span | None:
    """Return the span that the terms of a lease promise, or None if they promise no start or end."""
    if request.start is None or not request.kind.promises_interval:
        return None
    return Span(request.start, request.start + request.duration)


def span_of(lease: Lease) -> Span | None:
    """Return the span of a lease: as promised, otherwise as planned. Return None if it has no place."""
    promised = promised_span(lease.request)
    end = planned_end(lease)
    if promised is not None or end is None:
        return promised
    start = lease.holdings[0].run_start if lease.started is None else lease.started
    return Span(start, end)


def default_instant(span: Span, notice: int) -> int | None:
    """Return the instant for a lease that names none, but not before its start.

    :param notice: seconds before the end, as the operator has set; 0 for no reminder
    """
    return max(span.start, span.end - notice) if notice else None


def moved_instant(instant: int, old: Span | None, new: Span, notice: int) -> int:
    """Return the instant after the span of a lease has changed.

    The default instant becomes that of the new span. Any other keeps its distance to the end, as in Blazar. It is never
    before the start, when there is no server to save yet.

    :param old: the span for which the instant was chosen; None if that is not known
    :param notice: as in ``default_instant``
    """
    if old is None:
        return min(max(instant, new.start), new.end)
    if instant == default_instant(old, notice):
        return max(new.start, new.end - notice)
    return max(new.start, new.end - max(0, old.end - instant))


class BeforeEnd:
    """Reminders before the ends of leases (an ``Occasion``), and the images that are made at the same instant.

    The document of a lease says whether its reminder was sent.

    :param notice: returns the seconds from the reminder to the end of leases that name none
    :param is_busy: returns whether the cloud is carrying something out for a lease
    :param saves_by_default: whether images are made for reservations that leave the choice to the operator
    """

    def __init__(
        self,
        work: UnitOfWork,
        notice: Callable[[], int] = lambda: 0,
        is_busy: Callable[[str], bool] = lambda _: False,
        *,
        saves_by_default: bool = False,
    ) -> None:
        self._work = work
        self._notice = notice
        self._is_busy = is_busy
        self._saves_by_default = saves_by_default
        #: The spans for which the instants of leases were chosen.
        self._spans: dict[str, Span] = {}
        for lease_id, document in work.documents.items():
            span = span_of(work.leases[lease_id])
            if document.before_end is not None and span is not None:
                self._spans[lease_id] = span

    # -- when --------------------------------------------------------------------------------------------

    def chosen(self, document: LeaseDocument, asked: LeaseRequest) -> LeaseDocument:
        """Return the document of a new lease with the default instant, if its project has given none."""
        span = promised_span(asked)
        if span is None or document.before_end is not None:
            return document
        return replace(document, before_end=default_instant(span, self._notice()))

    def granted(self, document: LeaseDocument, asked: LeaseRequest, lease: Lease) -> LeaseDocument:
        """Return the document of a new lease with the instant that fits the granted terms.

        :param asked: terms for which the instant was chosen
        """
        span = promised_span(asked)
        if span is not None:
            self._spans[document.lease_id] = span
        return self.moved(document, lease)

    def for_other_terms(self, instant: int | None, terms: LeaseRequest, other: LeaseRequest) -> int | None:
        """Return the instant for an offer with other terms in place of a lease, or None."""
        old, new = promised_span(terms), promised_span(other)
        if instant is None or old is None or new is None:
            return None
        return moved_instant(instant, old, new, self._notice())

    def moved(self, document: LeaseDocument, lease: Lease, given: int | None = None) -> LeaseDocument:
        """Return the document with the instant that fits the present span of its lease.

        If the instant or the end has changed, the project is told again.

        :param given: the instant that its project asks for, or None
        """
        span = span_of(lease)
        if given is None and (document.before_end is None or span is None):
            return document
        old = self._spans.get(document.lease_id)
        if span is not None:
            self._spans[document.lease_id] = span
        if given is not None:
            instant = given if span is None else max(given, span.start)
            return replace(document, before_end=instant, before_end_done=False)
        assert document.before_end is not None
        assert span is not None
        if span == old:
            return document
        instant = moved_instant(document.before_end, old, span, self._notice())
        is_same = instant == document.before_end and (old is None or old.end == span.end)
        return replace(document, before_end=instant, before_end_done=document.before_end_done and is_same)

    def follow(self, lease_id: str) -> None:
        """Move the instant of a lease whose start or end the plan has changed."""
        lease, document = self._work.leases[lease_id], self._work.documents[lease_id]
        if lease.is_final:
            self._spans.pop(lease_id, None)
            return
        span = span_of(lease)
        if span is None or span.end <= self._work.now:
            # The lease waits for a place, or is being stopped.
            return
        moved = self.moved(document, lease)
        if moved != document:
            self._work.put_document(moved)
            if document.before_end_done and not moved.before_end_done:
                self._work.notify(document_message(BEFORE_END_STOPPED, lease, moved, self._work.now))

    # -- what --------------------------------------------------------------------------------------------

    def due(self, lease_id: str) -> int | None:
        """Return the instant of a lease, or None if it has none yet, it is only offered, or the reminder was sent."""
        lease, document = self._work.leases.get(lease_id), self._work.documents.get(lease_id)
        if lease is None or document is None or document.before_end_done:
            return None
        if lease.state in _NOT_STARTED or lease.is_offered:
            return None
        return document.before_end

    def remind(self, lease_id: str, now: int) -> None:
        """Have images made if the lease asks for them, and notify the project."""
        lease = self._work.leases[lease_id]
        document = replace(self._work.documents[lease_id], before_end_done=True)
        self._work.put_document(document)
        self._save(lease, document, now)
        self._work.notify(document_message(BEFORE_END, lease, document, now))

    def _save(self, lease: Lease, document: LeaseDocument, now: int) -> None:
        """Have images made of the servers of a lease that asks for them.

        If the cloud is carrying out an operation of the lease now, the images are made when the lease ends instead.
        """
        if (
            lease.active_since is not None
            and not self._is_busy(lease.lease_id)
            and document.saved_nodes(by_default=self._saves_by_default)
        ):
            hosts = lease.holdings[0].assignment
            self._work.intents.begin(Operation(OperationKind.SNAPSHOT, lease.lease_id, hosts, now, now))
