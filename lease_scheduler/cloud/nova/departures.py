"""Servers that have left a host, but still have room there in Placement: the migrations that moved them have it.

A resize keeps the room on the old host, and the server may come back, until its user confirms it. So does a migration
of a server that does not run. After one that runs, Nova cleans up, and may fail; see ``arrivals``. All is read from
Nova and Placement each time, so that it does not matter which engine made a server leave.
"""

from __future__ import annotations

from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova import lease_parts
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.arrivals import LIVE, Arrivals
from lease_scheduler.cloud.nova.nodes import Nodes
from lease_scheduler.cloud.nova.placement import Placement

#: What Nova calls resizes, and migrations of servers that do not run.
_WITH_CONFIRMATION = frozenset({"resize", "migration"})

#: Of these: the server is on its new host, and may still go back.
_FINISHED = "finished"

#: Of these: Nova does nothing any more.
_OVER = frozenset({"confirmed", "reverted", "error", "failed"})

#: Migrations from a host that are looked at, the latest first.
_LATEST = 200


class Departures:
    """See the module.

    :param nova: novaclient's client with administrator rights
    """

    def __init__(self, nova: Any, nodes: Nodes, placement: Placement, arrivals: Arrivals) -> None:
        self._nova = nova
        self._nodes = nodes
        self._placement = placement
        self._arrivals = arrivals

    def unfinished(self, host: str, own: str | None = None) -> list[Any]:
        """Do what is missing for servers that have left a host; return those that still have room there.

        What servers have in leases that share the host is left alone: the leases hold the room.

        :param own: project whose servers may come back
        """
        node = self._nodes.node(host)
        held = self._placement.consumers_on(node.provider_id)
        claims = {consumer for consumer, amounts in held.items() if not lease_parts.is_slot_only(amounts)}
        latest = self._nova.migrations.list(source_compute=node.service, limit=_LATEST) if claims else []
        found = [(each, self._server(each)) for each in latest if each.uuid in claims]
        others = [(each, server) for each, server in found if server is not None and server.tenant_id != own]
        moving = [server for each, server in others if not self._is_over(each, server)]
        for server_id in {server.id for _, server in others} - {each.id for each in moving}:
            self._arrivals.forget(server_id)
        return moving

    def _server(self, migration: Any) -> Any:
        """Return the server of a migration; of one that is deleted, release what the migration has, and return None."""
        try:
            return self._nova.servers.get(migration.instance_uuid)
        except NotFound:
            self._placement.release(migration.uuid)
            return None

    def _is_over(self, migration: Any, server: Any) -> bool:
        if of.service(server) == migration.source_compute:
            # It has not left, or it has come back.
            return True
        if migration.migration_type == LIVE:
            return not self._arrivals.mend(server) and self._arrivals.is_over(server)
        if migration.migration_type not in _WITH_CONFIRMATION:
            return True
        if migration.status == _FINISHED and server.status == of.VERIFY_RESIZE and not of.is_busy(server):
            # Whoever has begun it. Otherwise tenants could hold up leases, and come back to hosts that others have.
            of.command(self._nova.servers.confirm_resize, server)
        return migration.status in _OVER
