"""Servers that Nova does not list on a host any more, but which still have capacity there in Placement.

* A resize keeps the capacity on the old host until its user confirms it, and the server may come back. So does a cold
  migration. One that has failed may keep it for ever; see ``moves``.
* After a live migration, Nova cleans up, and may fail; see ``arrivals``.
* A deleted server keeps its capacity, and may be restored, for the time of Nova's ``reclaim_instance_interval``.

All facts are read from Nova and Placement each time, so it does not matter which engine made a server leave.
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
from lease_scheduler.cloud.nova.vacating.moves import OVER, WITH_CONFIRMATION, is_under_way
from lease_scheduler.cloud.nova.vacating.stale_claims import StaleClaims

LOG = logging.getLogger(__name__)

#: Status of a resize or migration whose server is on its new host, and may still go back.
_FINISHED = "finished"

#: Maximum number of migrations from a host that are read, latest first.
_LATEST = 200


class Departures:
    """Detector of such servers, which also finishes their moves and deletions.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query to Nova
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        nodes: Nodes,
        placement: Placement,
        arrivals: Arrivals,
        stale_claims: StaleClaims,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._nodes = nodes
        self._placement = placement
        self._arrivals = arrivals
        self._stale_claims = stale_claims

    def unfinished(self, host: str, own: str | None = None) -> list[Any]:
        """Finish moves and deletions of servers that have left a host. Return those that still have capacity there.

        Slots of servers in leases that share the host are left alone, as the leases hold the capacity.

        :param own: project whose servers may come back
        """
        node = self._nodes.node(host)
        held = self._placement.consumers_on(node.provider_id)
        claims = {consumer for consumer, amounts in held.items() if not lease_parts.is_slot_only(amounts)}
        if not claims:
            return []
        latest = self._nova.migrations.list(source_compute=node.service, limit=_LATEST)
        # The servers of moves that have failed stay as they are.
        self._stale_claims.release_of_servers(host, sorted({each.instance_uuid for each in latest} & claims))
        return [*self._moving(latest, claims, own), *self._restorable(node.service, claims, own)]

    def _moving(self, latest: Collection[Any], claims: Collection[str], own: str | None) -> list[Any]:
        found = [(each, self._server(each)) for each in latest if each.uuid in claims]
        others = [(each, server) for each, server in found if server is not None and server.tenant_id != own]
        moving = [server for each, server in others if not self._is_over(each, server)]
        for server_id in {server.id for _, server in others} - {each.id for each in moving}:
            self._arrivals.forget(server_id)
        return moving

    def _restorable(self, service: str, claims: Collection[str], own: str | None) -> list[Any]:
        deleted = self._listed(host=service, **RESTORABLE)
        # A server of a lease uses the capacity of its lease, which deletes it in time.
        others = [each for each in deleted if each.id in claims and each.tenant_id != own and of.made_for(each) is None]
        for each in others:
            # Only guests: users of an ordinary server may rely on restoring it.
            if of.is_guest(each) and not of.is_busy(each):
                LOG.warning("server %s, which its user has deleted, is not kept: a lease needs its host", each.id)
                of.command(self._nova.servers.force_delete, each)
        return others

    def _server(self, migration: Any) -> Any:
        """Return the server of a migration. If it is deleted, release what the migration has, and return None."""
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
                # Others have reset the state of the server, but the migration still has what it had.
                self._placement.release(migration.uuid)
            return is_over
        if migration.migration_type not in WITH_CONFIRMATION:
            return True
        if migration.status == _FINISHED and server.status == of.VERIFY_RESIZE and not of.is_busy(server):
            # Confirm it, whoever began it. Otherwise tenants could delay leases, and come back to hosts of others.
            of.command(self._nova.servers.confirm_resize, server)
        is_over = not is_under_way(migration, server)
        if is_over and migration.status not in OVER:
            # Others have reset the state of the server, so nobody can confirm it any more.
            self._placement.release(migration.uuid)
        return is_over
