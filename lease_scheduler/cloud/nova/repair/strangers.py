"""Strangers: servers that do not belong to the lease that has their host for itself. Administrators can force them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.listing import all_servers
from lease_scheduler.cloud.nova.images.image_records import apart
from lease_scheduler.cloud.nova.lease.aggregate_metadata import images_in
from lease_scheduler.cloud.observations import Stranger
from lease_scheduler.nova import aggregates as metadata

#: Difference between the clocks of Nova and of this machine up to which no change is missed.
_OVERLAP = timedelta(seconds=30)

_GONE = frozenset({"DELETED", "SOFT_DELETED", of.OFFLOADED})

#: States in which servers of a preempted lease may stay on the host.
_ASIDE = frozenset({of.STOPPED, of.SUSPENDED})


@dataclass(frozen=True)
class _Held:
    """A lease that has a host for itself and has started.

    :ivar number: id of its aggregate
    """

    number: int
    lease_id: str
    project_id: str


class Strangers:
    """Detector of strangers. Hosts are named by their compute services here, as in aggregates.

    :param nova: novaclient's client with administrator rights
    :param node_names: returns compute service -> name of its hypervisor
    """

    def __init__(self, nova: Any, node_names: Callable[[], Mapping[str, str]]) -> None:
        self._nova = nova
        self._node_names = node_names
        self._held: dict[str, _Held] = {}
        self._looked_at: datetime | None = None
        #: Servers of earlier leases that stay on the hosts until images of them are complete.
        self._apart: frozenset[str] = frozenset()
        self._told: set[tuple[str, str]] = set()
        #: Servers that were strangers at the last check.
        self._present: set[str] = set()

    def look(self, aggregates: Iterable[Any]) -> list[Stranger]:
        """Return the strangers: new ones, and known ones unless Nova is busy with them.

        On hosts whose lease has just started, all servers are checked. On other hosts, those are checked that have
        changed since the last call, and known strangers.

        :param aggregates: all aggregates, as novaclient lists them
        """
        now = datetime.now(UTC)
        found = list(aggregates)
        held = {host: lease for aggregate in found for host, lease in _holds(aggregate).items()}
        self._apart = frozenset().union(*(apart(images_in(each.metadata or {})) for each in found))
        servers = []
        if self._looked_at is not None and held.keys() & self._held.keys():
            since = (self._looked_at - _OVERLAP).isoformat()
            servers += self._list(**{"changes-since": since})
        for host in sorted(held):
            if held[host] != self._held.get(host):
                servers += self._list(host=host)
        present, self._present = self._present, set()
        for server_id in sorted(present - {server.id for server in servers}):
            servers += self._list(uuid=server_id)
        self._held, self._looked_at = held, now
        leases = {lease.lease_id for lease in held.values()}
        self._told = {(server_id, lease_id) for server_id, lease_id in self._told if lease_id in leases}
        return self._new(servers, held)

    def look_at(self, host: str) -> list[Stranger]:
        """Return the strangers on one host, as ``look`` does."""
        lease = self._held.get(host)
        if lease is None:
            # If a lease has just started there, the next ``look`` finds it.
            return []
        try:
            held = _holds(self._nova.aggregates.get(lease.number))
        except NotFound:
            return []
        return self._new(self._list(host=host), held) if host in held else []

    def _list(self, **query: str) -> list[Any]:
        return all_servers(self._nova, **query)

    def _new(self, servers: Iterable[Any], held: Mapping[str, _Held]) -> list[Stranger]:
        node_names = self._node_names()
        found = []
        for server in {server.id: server for server in servers}.values():
            host = of.service(server) or ""
            lease = held.get(host)
            if lease is None or server.status in _GONE or server.id in self._apart or _belongs(server, lease):
                continue
            self._present.add(server.id)
            if of.is_copied_away(server):
                continue
            is_known = (server.id, lease.lease_id) in self._told
            # A stranger that was busy when it was first seen could not be sent away, so it is reported again later.
            if is_known and of.is_busy(server):
                continue
            self._told.add((server.id, lease.lease_id))
            name = node_names.get(host, host)
            found.append(Stranger(server.id, lease.lease_id, name, server.tenant_id, is_known))
        return found


def _holds(aggregate: Any) -> dict[str, _Held]:
    """Return host -> lease, for hosts that the lease of an aggregate has for itself at present."""
    said: Mapping[str, str] = aggregate.metadata or {}
    if metadata.LEASE_ID not in said or not metadata.is_true(said.get(metadata.EXCLUSIVE)):
        return {}
    # Before its start, hosts are still being vacated; after its end, they belong to others.
    if not _instant(said.get(metadata.FROM)) <= time.time() < _instant(said.get(metadata.UNTIL)):
        return {}
    lease = _Held(aggregate.id, said[metadata.LEASE_ID], said.get(metadata.PROJECT_ID, ""))
    return dict.fromkeys(aggregate.hosts or (), lease)


def _instant(text: str | None) -> float:
    """Return an instant, or infinity if there is none."""
    return float(text) if text is not None and text.isdigit() else float("inf")


def _belongs(server: Any, lease: _Held) -> bool:
    made_for = of.made_for(server)
    if server.tenant_id == lease.project_id or made_for == lease.lease_id:
        return True
    return server.status in _ASIDE and made_for is not None
