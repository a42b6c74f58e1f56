"""Consumers are told some time before their lease ends (Blazar's ``before_end_lease``)."""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush

from lease_scheduler.engine.records import LeaseDocument
from lease_scheduler.model.states import LeaseState
from lease_scheduler.service.notifications import document_message
from lease_scheduler.service.unit_of_work import UnitOfWork

#: A lease in these states has not begun, so there is no end to be told of yet.
_NOT_BEGUN = frozenset({LeaseState.NEW, LeaseState.PENDING, LeaseState.QUEUED})


class BeforeEnd:
    """Finds the leases whose consumers are to be told; entries may be stale, the lease's document decides."""

    def __init__(self, work: UnitOfWork) -> None:
        self._work = work
        self._heap: list[tuple[int, str]] = []
        for document in work.documents.values():
            self.note(document)

    def note(self, document: LeaseDocument) -> None:
        """Remember when the consumer of a lease is to be told."""
        if document.before_end is not None and not document.before_end_done:
            heappush(self._heap, (document.before_end, document.lease_id))

    def next_due(self) -> int | None:
        """When somebody is to be told next, none if nobody is."""
        while self._heap:
            if self._is_open(*self._heap[0]):
                return self._heap[0][0]
            heappop(self._heap)
        return None

    def _is_open(self, instant: int, lease_id: str) -> bool:
        document = self._work.documents.get(lease_id)
        return document is not None and document.before_end == instant and not document.before_end_done

    def tell(self, now: int) -> None:
        """Tell everybody who is to be told by now; leases that have not begun have no end to be told of."""
        while (instant := self.next_due()) is not None and instant <= now:
            _, lease_id = heappop(self._heap)
            lease = self._work.leases[lease_id]
            document = replace(self._work.documents[lease_id], before_end_done=True)
            self._work.put_document(document)
            if lease.state not in _NOT_BEGUN:
                self._work.notify(document_message("lease.event.before_end_lease", lease, document, now))
