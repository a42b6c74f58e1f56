"""What is done some time before a lease ends (Blazar's ``before_end_lease``): its project is told, images are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from heapq import heappop, heappush

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.notifications import document_message
from lease_scheduler.service.unit_of_work import UnitOfWork

#: A lease in these states has not begun, so there is no end to be told of yet.
_NOT_BEGUN = frozenset({LeaseState.NEW, LeaseState.PENDING, LeaseState.QUEUED})


class BeforeEnd:
    """Finds the leases for which it is time; entries may be stale, the lease's document decides.

    :param is_busy: whether the cloud is carrying something out for a lease
    :param saves_by_default: whether images are made for reservations that leave that to the operator
    """

    def __init__(
        self,
        work: UnitOfWork,
        is_busy: Callable[[str], bool] = lambda _: False,
        *,
        saves_by_default: bool = False,
    ) -> None:
        self._work = work
        self._is_busy = is_busy
        self._saves_by_default = saves_by_default
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
        """Do what is due by now; leases that have not begun have no end to be told of."""
        while (instant := self.next_due()) is not None and instant <= now:
            _, lease_id = heappop(self._heap)
            lease = self._work.leases[lease_id]
            document = replace(self._work.documents[lease_id], before_end_done=True)
            self._work.put_document(document)
            if lease.state not in _NOT_BEGUN:
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
            self._work.begin(Operation(OperationKind.SNAPSHOT, lease.lease_id, hosts, now, now))
