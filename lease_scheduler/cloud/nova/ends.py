"""When leases end, as aggregates say it to the filter; nothing else writes ``lease:until``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock

from lease_scheduler.cloud.nova import names
from lease_scheduler.cloud.nova.aggregate_metadata import Memory
from lease_scheduler.cloud.nova.aggregates import Aggregates
from lease_scheduler.nova import aggregates as metadata

#: With more leases than this, all aggregates are listed once and only those that differ are written.
_FEW = 10


class Ends:
    """See the module.

    Ends change while the aggregates of a lease are made or changed, in other threads. Whoever has written an end looks
    whether it is still the latest one, so the latest one is what stays.
    """

    def __init__(self, aggregates: Aggregates, memory: Memory) -> None:
        self._aggregates = aggregates
        self._memory = memory
        self._lock = Lock()
        self._latest: dict[str, int | None] = {}

    def tell(self, ends: Mapping[str, int | None]) -> None:
        """Have the aggregates of these leases say when they end, as far as there are any.

        :param ends: lease -> instant, or None if nothing but the engine ends the lease for now
        """
        with self._lock:
            self._latest.update(ends)
        for lease_id in self._differing(ends) if len(ends) > _FEW else ends:
            known = self._memory.known(lease_id)
            if known is not None:
                self.write(lease_id, known.reservations)

    def open(self, lease_id: str, reservations: Iterable[str]) -> None:
        """Have no end said while servers are started or brought back, however long that takes."""
        with self._lock:
            self._latest[lease_id] = None
        self.write(lease_id, reservations)

    def write(self, lease_id: str, reservations: Iterable[str]) -> None:
        """Have all aggregates of a lease say the latest end.

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
        """Remember nothing of a lease that is over."""
        with self._lock:
            self._latest.pop(lease_id, None)

    def _differing(self, ends: Mapping[str, int | None]) -> list[str]:
        said: dict[str, set[str | None]] = {}
        for aggregate in self._aggregates.all():
            lease_id = aggregate.metadata.get(metadata.LEASE_ID)
            if lease_id is not None and lease_id in ends:
                said.setdefault(lease_id, set()).add(aggregate.metadata.get(metadata.UNTIL))
        return [lease_id for lease_id, found in said.items() if found != {_text(ends[lease_id])}]


def _text(end: int | None) -> str | None:
    return None if end is None else str(end)
