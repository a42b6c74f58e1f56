"""The pools of a site: which one a request, a host or an address is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from lease_scheduler.engine.pools.engines import PoolName
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.records.pool import HostRecord
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.service.core.policies import PoolPlanning

#: Maximum number of hosts or leases that an error names.
_NAMED = 5


class Pools:
    """The pools of a site, or its only one, which has no name.

    :param plannings: how the leases of each pool are planned, in the configured order; empty if the site has only one
        pool
    :ivar first: name of the first pool, to which everything belongs by default; None if the site has only one
    """

    def __init__(self, plannings: Mapping[str, PoolPlanning]) -> None:
        self.plannings: dict[PoolName, PoolPlanning] = dict(plannings.items())
        self.first: PoolName = next(iter(self.plannings), None)

    def check(self, snapshot: Snapshot) -> None:
        """Refuse a store with hosts, addresses or live leases of a pool that is not configured.

        :raises InvalidValueError: names them, and the command that moves them to another pool
        """
        hosts = [(host.name, host.pool) for host in snapshot.hosts]
        hosts += [(address.floating_ip_address, address.pool) for address in snapshot.floating_ips]
        leases = [(lease.lease_id, lease.request.pool) for lease in snapshot.leases]
        unknown = sorted({pool for _, pool in (*hosts, *leases) if pool is not None and pool not in self.plannings})
        if not unknown:
            return
        pool = unknown[0]
        has = [
            f"{len(names)} {what} ({', '.join(names[:_NAMED])}{', ...' if len(names) > _NAMED else ''})"
            for what, named in (("hosts and addresses", hosts), ("live leases", leases))
            if (names := [name for name, of in named if of == pool])
        ]
        other = f" --into {self.first}" if self.first is not None else ""
        raise InvalidValueError(
            "pools.names",
            f"pool {pool} is missing, and it has {' and '.join(has)}; add its name again, or give them to another pool "
            f"with: lease-scheduler-manage pool dissolve {pool}{other}",
        )

    def named(self, name: str | None) -> PoolName:
        """Return the pool with a name; without a name, the first one.

        :raises RefusedError: 400, there is no such pool
        """
        if name is None:
            return self.first
        if name not in self.plannings:
            known = ", ".join(str(pool) for pool in self.plannings)
            right = f"right is {known}" if known else "this site has no pools to choose from, so leave it out"
            raise RefusedError(400, f"pool: there is no pool {name}; {right}", "pool")
        return name

    def usable(self, lease: Document) -> list[PoolName]:
        """Return the pools in which a new lease may be planned, in the configured order.

        :param lease: may have ``pool``, the name of the wanted pool, and ``pools``, the names of those that the project
            may use, by default all
        :raises RefusedError: there is none
        """
        wanted = lease.get("pool")
        if wanted is not None or not self.plannings:
            self.named(wanted)
        allowed = lease.get("pools")
        found: list[PoolName] = [pool for pool in self.plannings if allowed is None or pool in allowed]
        if not self.plannings:
            return [None]
        if not found or (wanted is not None and wanted not in found):
            what = "any pool of this site" if wanted is None else f"pool {wanted}"
            raise RefusedError(403, f"pool: the project may not use {what}", "pool")
        return found if wanted is None else [wanted]

    def of_hosts(self, hosts: Iterable[HostRecord], nodes: Iterable[NodeSet]) -> PoolName:
        """Return the pool of the hosts that node sets name, or the first pool if they name none.

        :raises RefusedError: 400, they are in several pools
        """
        named = frozenset().union(*(node_set.hosts or () for node_set in nodes))
        found = {host.pool for host in hosts if host.name in named}
        if len(found) > 1:
            names = ", ".join(sorted(str(pool) for pool in found))
            raise RefusedError(400, f"hosts: they are in several pools ({names}); ask for each pool by itself", "hosts")
        return found.pop() if found else self.first

    def of_new(self, host: str, given: str | None) -> PoolName:
        """Return the pool of a host that joins the site: the given one, else by its name, else the first.

        :param host: its name
        :param given: the pool that the operator has named, or None
        :raises RefusedError: 400, there is no such pool
        """
        if given is not None:
            return self.named(given)
        for pool, planning in self.plannings.items():
            if any(fnmatchcase(host, pattern) for pattern in planning.hosts):
                return pool
        return self.first
