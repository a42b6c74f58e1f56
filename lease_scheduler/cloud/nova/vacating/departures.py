"""Servers that Nova does not list on a host any more, but which still have room there in Placement.

A resize keeps the room on the old host, and the server may come back, until its user confirms it. So does a migration
of a server that does not run; see ``failed_moves``. After one that runs, Nova cleans up, and may fail; see
``arrivals``. A deleted server keeps its room, and may be restored, for ``reclaim_instance_interval`` of Nova. All is
read from Nova and Placement each time, so that it does not matter which engine made a server leave.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.servers import RESTORABLE
from lease_scheduler.cloud.nova.vacating.arrivals import FAILED, LIVE, Arrivals
from lease_scheduler.cloud.nova.vacating.failed_moves import WITH_CONFIRMATION, has_failed

LOG = logging.getLogger(__name__)

#: State of a resize or migration: the server is on its new host, and may still go back.
_FINISHED = "finished"

#: States in which Nova does nothing any more.
_OVER = frozenset({"confirmed", "reverted", "error", "failed"})

#: Migrations from a host that are looked at, the latest first.
_LATEST = 200


class Departures:
    """See the module.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query of Nova's
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        nodes: Nodes,
        placement: Placement,
        arrivals: Arrivals,
    ) -> None:
        self._nova = nova
        self._listed = listed
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
        if not claims:
            return []
        return [*self._moving(node.service, claims, own), *self._restorable(node.service, claims, own)]

    def _moving(self, service: str, claims: Collection[str], own: str | None) -> list[Any]:
        latest = self._nova.migrations.list(source_compute=service, limit=_LATEST)
        self._release_failed([each for each in latest if each.instance_uuid in claims])
        found = [(each, self._server(each)) for each in latest if each.uuid in claims]
        others = [(each, server) for each, server in found if server is not None and server.tenant_id != own]
        moving = [server for each, server in others if not self._is_over(each, server)]
        for server_id in {server.id for _, server in others} - {each.id for each in moving}:
            self._arrivals.forget(server_id)
        return moving

    def _release_failed(self, migrations: Collection[Any]) -> None:
        """Release what servers have on their old host whose move has failed. The servers stay as they are."""
        for each in migrations:
            server = self._server(each)
            if server is not None and has_failed(each, server):
                LOG.warning("server %s failed on its way; a lease gets its old host: %s", server.id, of.fault(server))
                self._placement.release(server.id)

    def _restorable(self, service: str, claims: Collection[str], own: str | None) -> list[Any]:
        deleted = self._listed(host=service, **RESTORABLE)
        # One of a lease has the room of its lease, which deletes it in time.
        others = [each for each in deleted if each.id in claims and each.tenant_id != own and of.made_for(each) is None]
        for each in others:
            # Whoever boots an ordinary server may rely on restoring it.
            if of.is_guest(each) and not of.is_busy(each):
                LOG.warning("server %s, which its user has deleted, is not kept: a lease needs its host", each.id)
                of.command(self._nova.servers.force_delete, each)
        return others

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
            is_over = not self._arrivals.mend(server) and self._arrivals.is_over(server)
            if is_over and migration.status == FAILED:
                # Somebody else has reset the state of the server since.
                self._placement.release(migration.uuid)
            return is_over
        if migration.migration_type not in WITH_CONFIRMATION:
            return True
        if migration.status == _FINISHED and server.status == of.VERIFY_RESIZE and not of.is_busy(server):
            # Whoever has begun it. Otherwise tenants could hold up leases, and come back to hosts that others have.
            of.command(self._nova.servers.confirm_resize, server)
        return migration.status in _OVER
