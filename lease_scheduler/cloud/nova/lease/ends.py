"""Ends of leases, written into the metadata of their aggregates for the filter. Only this writes ``lease:until``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.lease.aggregate_metadata import LeaseAggregates
from lease_scheduler.nova import aggregates as metadata

#: Maximum number of leases whose ends are written directly. For more, a list of all aggregates shows which differ.
_FEW = 10


class Ends:
    """The ends of leases in aggregates.

    An end may change while another thread creates or changes the aggregates of the lease. After writing an end, each
    thread checks whether it is still the latest one, so the latest one stays.
    """

    def __init__(self, aggregates: Aggregates, lease_aggregates: LeaseAggregates) -> None:
        self._aggregates = aggregates
        self._lease_aggregates = lease_aggregates
        self._lock = Lock()
        self._latest: dict[str, int | None] = {}

    def tell(self, ends: Mapping[str, int | None]) -> None:
        """Write the ends of leases into their aggregates, if they have any.

        :param ends: lease -> instant, or None if only the engine may end the lease for now
        """
        with self._lock:
            self._latest.update(ends)
        for lease_id in self._differing(ends) if len(ends) > _FEW else ends:
            known = self._lease_aggregates.known(lease_id)
            if known is not None:
                self.write(lease_id, known.reservations)

    def open(self, lease_id: str, reservations: Iterable[str]) -> None:
        """Remove the end of a lease while its servers are started or resumed, which may take long."""
        with self._lock:
            self._latest[lease_id] = None
        self.write(lease_id, reservations)

    def write(self, lease_id: str, reservations: Iterable[str]) -> None:
        """Write the latest end into all aggregates of a lease.

        :param reservations: ids of its reservations, some of which may have aggregates of their own
        """
        own = [names.aggregate(lease_id, exclusive=exclusive) for exclusive in (True, False)]
        found = [*own, *reservations]
        while True:
            end = self._latest.get(lease_id)
            for name in found:
                self._aggregates.set_metadata(name, {metadata.UNTIL: _text(end)})
            if self._latest.get(lease_id) == end:
                return

    def forget(self, lease_id: str) -> None:
        """Forget the end of a lease that is over."""
        with self._lock:
            self._latest.pop(lease_id, None)

    def forget_all(self) -> None:
        """Forget all ends, because others may have told later ones."""
        with self._lock:
            self._latest.clear()

    def _differing(self, ends: Mapping[str, int | None]) -> list[str]:
        said: dict[str, set[str | None]] = {}
        for aggregate in self._aggregates.all():
            lease_id = aggregate.metadata.get(metadata.LEASE_ID)
            if lease_id is not None and lease_id in ends:
                said.setdefault(lease_id, set()).add(aggregate.metadata.get(metadata.UNTIL))
        return [lease_id for lease_id, found in said.items() if found != {_text(ends[lease_id])}]


def _text(end: int | None) -> str | None:
    return None if end is None else str(end)
