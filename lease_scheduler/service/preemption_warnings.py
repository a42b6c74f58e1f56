"""Consumers are told some time before their running leases have to make room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from heapq import heappop, heappush

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.service.notifications import document_message
from lease_scheduler.service.unit_of_work import UnitOfWork

EVENT_TYPE = "lease.event.preemption_warning"


class PreemptionWarnings:
    """Finds the leases whose consumers are to be told; entries may be stale, the lease decides.

    An engine that takes over tells once more: better twice than not at all.

    :param seconds: how long before its servers are put away a consumer is told, at short notice at once; 0 for never
    """

    def __init__(self, work: UnitOfWork, seconds: int) -> None:
        self._work = work
        self._seconds = seconds
        self._heap: list[tuple[int, str, int]] = []
        self._told: dict[str, int] = {}
        self.note(work.leases.values())

    def note(self, leases: Iterable[Lease]) -> None:
        """Look at leases that may have to make room, or may not any more."""
        for lease in leases:
            instant = preempted_at(lease)
            if instant is None:
                self._told.pop(lease.lease_id, None)
            elif self._seconds:
                heappush(self._heap, (instant - self._seconds, lease.lease_id, instant))

    def next_due(self) -> int | None:
        """When somebody is to be told next, none if nobody is."""
        while self._heap:
            due, lease_id, instant = self._heap[0]
            if self._is_open(lease_id, instant):
                return due
            heappop(self._heap)
        return None

    def _is_open(self, lease_id: str, instant: int) -> bool:
        lease = self._work.leases.get(lease_id)
        return lease is not None and preempted_at(lease) == instant and self._told.get(lease_id) != instant

    def tell(self, now: int) -> None:
        """Tell everybody who is to be told by now."""
        while (due := self.next_due()) is not None and due <= now:
            _, lease_id, instant = heappop(self._heap)
            self._told[lease_id] = instant
            lease = self._work.leases[lease_id]
            message = document_message(EVENT_TYPE, lease, self._work.documents[lease_id], now)
            said = {"preempted_at": instant, "preemption_mode": lease.request.preemption_mode.value}
            self._work.notify(replace(message, payload={**message.payload, **said}))


def preempted_at(lease: Lease) -> int | None:
    """When the servers of a running lease will be put away or lost; none if it runs to its end."""
    if lease.active_since is None or not lease.holdings:
        return None
    first = lease.holdings[0]
    return None if first.closing is Closing.SHUTDOWN else first.run_end
