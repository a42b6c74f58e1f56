"""The aggregate of all hosts that leases may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from threading import Lock

from lease_scheduler.cloud.nova.aggregates import Aggregates
from lease_scheduler.nova import aggregates as metadata


class Freepool:
    """See the module. Hosts are called by their compute services here.

    :param name: of the aggregate
    """

    def __init__(self, aggregates: Aggregates, name: str) -> None:
        self._aggregates = aggregates
        self._name = name
        self._lock = Lock()
        self._pool: frozenset[str] | None = None

    def keep(self, pool: Collection[str], taken_out: Callable[[], Collection[str]]) -> None:
        """Have it be the hosts of the pool, but for those that were taken out.

        :param taken_out: gives these
        """
        with self._lock:
            self._pool = frozenset(pool)
            if not pool and self._aggregates.find(self._name) is None:
                # There is nothing to keep others off, as after the service was uninstalled.
                return
            self._aggregates.ensure(self._name, {metadata.POOL: "true"}, self._pool.difference(taken_out()))

    def hosts(self) -> frozenset[str]:
        """Those that it has now."""
        found = self._aggregates.find(self._name)
        return frozenset() if found is None else found.hosts

    def announce(self, starts: Mapping[str, int]) -> None:
        """Have it say when leases begin on its hosts.

        :param starts: compute service -> instant
        """
        found = self._aggregates.find(self._name)
        if found is None:
            return
        said = metadata.coming_metadata(starts)
        # Nova removes what is none.
        outdated = {key: None for key in found.metadata if key.startswith(metadata.NEXT) and key not in said}
        self._aggregates.set_metadata(self._name, {**said, **outdated})

    def remove(self) -> None:
        """Remove the aggregate; whatever hosts it has are everybody's."""
        with self._lock:
            self._aggregates.remove(self._name)

    def take_out(self, hosts: Iterable[str]) -> None:
        """Have it not have hosts for a while, as Blazar does while they are reserved."""
        with self._lock:
            self._aggregates.withdraw(self._name, hosts)

    def put_back(self, hosts: Iterable[str]) -> None:
        """Have it have hosts again that were taken out."""
        with self._lock:
            # Before anybody has said what the pool is, it is what it was.
            self._aggregates.add(self._name, [host for host in hosts if self._pool is None or host in self._pool])
