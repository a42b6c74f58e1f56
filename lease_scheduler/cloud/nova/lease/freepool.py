"""The aggregate of all hosts that leases may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from threading import Lock

from lease_scheduler.cloud.nova.api.aggregates import Aggregate, Aggregates
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.nova import aggregates as metadata


class Freepool:
    """The aggregate of the pool. Hosts are named by their compute services here.

    :param name: name of the aggregate
    """

    def __init__(self, aggregates: Aggregates, name: str) -> None:
        self._aggregates = aggregates
        self._name = name
        self._lock = Lock()
        self._pool: frozenset[str] | None = None

    def keep(self, pool: Collection[str], taken_out: Callable[[], Collection[str]]) -> None:
        """Make the hosts of the aggregate those of the pool, without those that are taken out.

        :param taken_out: returns the hosts that are taken out
        :raises InvalidValueError: another aggregate is the pool
        """
        self._refuse_mistake()
        with self._lock:
            self._pool = frozenset(pool)
            if not pool and self._aggregates.find(self._name) is None:
                # An empty pool needs no aggregate. This is also the state after the service was uninstalled.
                return
            self._aggregates.ensure(self._name, {metadata.POOL: "true"}, self._pool.difference(taken_out()))

    def hosts(self) -> frozenset[str]:
        """Return the hosts that the aggregate has now."""
        found = self._aggregates.find(self._name)
        return frozenset() if found is None or self.mistake() is not None else found.hosts

    def mistake(self) -> str | None:
        """Return why the configured name is not that of the pool's aggregate, or None.

        If the configuration names an aggregate of others by mistake, we must neither replace its hosts nor remove it.
        """
        found = self._aggregates.find(self._name)
        if found is not None and _is_pool(found):
            return None
        pools = sorted(each.name for each in self._aggregates.all() if _is_pool(each))
        if not pools:
            # The aggregate is created, or taken over with the hosts it has, when the first host comes into the pool.
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
        """Write into the metadata when leases start on the hosts.

        :param starts: compute service -> instant
        """
        self._say(metadata.coming_metadata(starts), metadata.NEXT)

    def promise(self, lifetimes: Mapping[float, Mapping[str, int]], until: int) -> None:
        """Write into the metadata for how long servers without a lease are promised to run on the hosts.

        :param lifetimes: by probability, the default first: compute service -> seconds
        :param until: instant at which this is out of date
        """
        prefixes = metadata.ASSURED, metadata.ASSURED_UNTIL, metadata.ASSURED_DEFAULT
        self._say(metadata.promise_metadata(lifetimes, until), *prefixes)

    def _say(self, said: Mapping[str, str], *prefixes: str) -> None:
        """Replace the metadata with these prefixes."""
        found = self._aggregates.find(self._name)
        if found is None:
            return
        # Nova removes keys with the value None.
        outdated = {key: None for key in found.metadata if key.startswith(prefixes) and key not in said}
        if said or outdated:
            self._aggregates.set_metadata(self._name, {**said, **outdated})

    def remove(self) -> None:
        """Remove the aggregate, so that its hosts are open to all.

        :raises InvalidValueError: another aggregate is the pool
        """
        self._refuse_mistake()
        with self._lock:
            self._aggregates.remove(self._name)

    def take_out(self, hosts: Iterable[str]) -> None:
        """Take hosts out of the aggregate for a while, as Blazar does with reserved hosts."""
        with self._lock:
            self._aggregates.withdraw(self._name, hosts)

    def put_back(self, hosts: Iterable[str]) -> None:
        """Put hosts back that were taken out."""
        with self._lock:
            # Until ``keep`` has told the pool, all hosts that were taken out are put back.
            self._aggregates.add(self._name, [host for host in hosts if self._pool is None or host in self._pool])


def _is_pool(aggregate: Aggregate) -> bool:
    return metadata.is_true(aggregate.metadata.get(metadata.POOL))
