"""The CPU time of servers of leases, for meters and sources of needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from novaclient.exceptions import Conflict, HTTPNotImplemented, NotFound

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.nova.api import server as of

#: Real seconds to wait for the diagnostics of a server. Nova would wait longer for a host that does not answer.
_PATIENCE = 10.0

#: Value of ``host_status`` of a server whose host reports to Nova.
_HOST_IS_UP = ("UP", "MAINTENANCE")


class ServerUsage:
    """See ``cloud.capabilities.Usage``.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query to Nova
    """

    def __init__(self, nova: Any, listed: Callable[..., list[Any]]) -> None:
        self._nova = nova
        self._listed = listed

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, list[LeaseServer]]:
        """See ``Usage.servers_of``. Servers of all leases are read in one list."""
        wanted: dict[str, list[LeaseServer]] = {each.lease_id: [] for each in leases}
        owners = {(host, each.project_id): each.lease_id for each in leases for host in each.hosts}
        for server in self._listed() if wanted else []:
            holders = {lease_id for lease_id in of.leases(server) if lease_id in wanted}
            by_host = owners.get((of.host(server) or "", server.tenant_id))
            if by_host is not None and of.made_for(server) in (None, by_host):
                holders.add(by_host)
            for lease_id in holders:
                vcpus = int(server.flavor.get("vcpus") or 1)
                wanted[lease_id].append(LeaseServer(server.id, _power(server), vcpus))
        return wanted

    def cpu_time(self, server_id: str) -> float | None:
        """See ``Usage.cpu_time``. Not every hypervisor driver of Nova has diagnostics."""
        try:
            _, found = self._nova.client.get(f"/servers/{server_id}/diagnostics", timeout=_PATIENCE)
        except (Conflict, HTTPNotImplemented, NotFound):
            return None
        times = [each.get("time") for each in found.get("cpu_details") or ()]
        return None if not times or None in times else sum(times) / 1e9


def _power(server: Any) -> Power:
    """Return whether a server can use anything.

    A server that its users stopped or paused uses nothing. Other states are not certain: a shelved or suspended server
    may have given way to another lease, and a server may be changing or have failed.
    """
    if of.is_busy(server) or getattr(server, "host_status", "") not in _HOST_IS_UP:
        return Power.UNKNOWN
    if server.status == of.ACTIVE:
        return Power.ON
    return Power.OFF if server.status in (of.STOPPED, of.PAUSED) else Power.UNKNOWN
