"""The aggregate of all hosts that leases may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from threading import Lock

from lease_scheduler.cloud.nova.aggregates import Aggregate, Aggregates
from lease_scheduler.model.errors import InvalidValueError
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
        :raises InvalidValueError: another aggregate is the pool
        """
        self._refuse_mistake()
        with self._lock:
            self._pool = frozenset(pool)
            if not pool and self._aggregates.find(self._name) is None:
                # There is nothing to keep others off, as after the service was uninstalled.
                return
            self._aggregates.ensure(self._name, {metadata.POOL: "true"}, self._pool.difference(taken_out()))

    def hosts(self) -> frozenset[str]:
        """Those that it has now."""
        found = self._aggregates.find(self._name)
        return frozenset() if found is None or self.mistake() is not None else found.hosts

    def mistake(self) -> str | None:
        """Return why the name is not that of the pool, or None.

        Whoever names an aggregate of somebody else's must not have its hosts replaced, or the aggregate removed.
        """
        found = self._aggregates.find(self._name)
        if found is not None and _is_pool(found):
            return None
        pools = sorted(each.name for each in self._aggregates.all() if _is_pool(each))
        if not pools:
            # It is made, or taken over as it is, when the first host comes into the pool.
            return None
        found_names = ", ".join(pools)
        return (
            f"the pool is aggregate {found_names} (lease:pool=true) and not {self._name}; name that one, or rename it"
        )

    def _refuse_mistake(self) -> None:
        mistake = self.mistake()
        if mistake is not None:
            raise InvalidValueError("[nova] aggregate_freepool_name", mistake)

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
        """Remove the aggregate; whatever hosts it has are everybody's.

        :raises InvalidValueError: another aggregate is the pool
        """
        self._refuse_mistake()
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


def _is_pool(aggregate: Aggregate) -> bool:
    return metadata.is_true(aggregate.metadata.get(metadata.POOL))
