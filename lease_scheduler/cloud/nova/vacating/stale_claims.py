"""Stale claims: what Nova has claimed in Placement on a host for no server that is or comes there. Nova keeps it.

* During a migration, the migration has the claims of its server on the host that the server leaves. If Placement
  refuses to release them, because others change the same provider at the same time, Nova gives up and keeps them; see
  ``nova-manage placement audit`` in Nova's documentation.
* A server whose move has failed may have claims on its old host; see ``moves``.

The resource class of a slot with such a claim cannot be removed, so its lease would never end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.listing import all_servers
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.vacating.moves import is_under_way

LOG = logging.getLogger(__name__)

#: Maximum number of claims that one call checks. After many servers were deleted, Nova soon releases most by itself.
_AT_ONCE = 20

#: Number of migrations on one page of a list.
_PAGE = 500


class StaleClaims:
    """Detector of stale claims, which also releases them.

    :param nova: novaclient's client with administrator rights
    """

    def __init__(self, nova: Any, placement: Placement, nodes: Nodes) -> None:
        self._nova = nova
        self._placement = placement
        self._nodes = nodes

    def release(self, host: str, classes: Collection[str]) -> bool:
        """Release stale claims of slots on a host that a lease has left. Return whether there was any.

        :param classes: resource classes of the slots of the lease
        """
        service = self._nodes.node(host).service
        found = self._placement.consumers_on(names.slots_provider_id(host))
        claims = {consumer for consumer, amounts in found.items() if not amounts.keys().isdisjoint(classes)}
        elsewhere = claims - {server.id for server in all_servers(self._nova, host=service)}
        if not elsewhere:
            return False
        checked = sorted(elsewhere)[:_AT_ONCE]
        # Each claim is older than this list, so a claim of a migration that is not listed is not one of this host.
        moves = {each.uuid: each for each in self._migrations(host=service) if each.uuid in checked}
        servers = [each for each in checked if each not in moves]
        released = self.release_of_servers(host, servers)
        return self._release(host, moves, lambda consumer: self._is_moved(moves[consumer], service)) or released

    def release_of_servers(self, host: str, server_ids: Collection[str]) -> bool:
        """Release what servers have on a host although they neither are nor come there. Return whether there was any.

        What they have of other hosts is left alone.
        """
        return self._release(host, server_ids, partial(self._is_elsewhere, service=self._nodes.node(host).service))

    def _release(self, host: str, consumers: Collection[str], is_stale: Callable[[str], bool]) -> bool:
        if not consumers:
            return False
        root_id = self._nodes.node(host).provider_id
        providers = {root_id, *self._placement.tree(root_id)}
        released = [each for each in consumers if self._placement.release_if(each, providers, partial(is_stale, each))]
        for each in released:
            LOG.warning("what %s has in Placement of host %s is released: no server needs it there", each, host)
        return bool(released)

    def _is_moved(self, migration: Any, service: str) -> bool:
        """Confirm a resize that waits for it. Return whether its server does not come back to a compute service."""
        server = self._server(migration.instance_uuid)
        if server is None:
            return True
        if server.status == of.VERIFY_RESIZE:
            # The lease has left the host, so the server must not go back. It has another flavor or host now.
            of.command(self._nova.servers.confirm_resize, server)
        return not is_under_way(migration, server) and of.service(server) != service

    def _is_elsewhere(self, server_id: str, service: str) -> bool:
        """Return whether there is no such server, or it is on another compute service and does not come to this one.

        What Nova does with it does not matter: it may have the task of a move that has failed for ever.
        """
        # A migration that begins after this list changes the claims, so they are kept.
        moves = list(self._migrations(instance_uuid=server_id))
        server = self._server(server_id)
        if server is None:
            return True
        # A server without a host may be on its way here, with no migration.
        return of.service(server) not in (None, service) and not any(
            is_under_way(each, server)
            for each in moves
            if service in (each.source_compute, each.dest_compute) or each.dest_compute is None
        )

    def _migrations(self, **query: str) -> Iterator[Any]:
        marker = None
        while page := self._nova.migrations.list(**query, marker=marker, limit=_PAGE):
            yield from page
            marker = page[-1].uuid

    def _server(self, server_id: str) -> Any:
        try:
            return self._nova.servers.get(server_id)
        except NotFound:
            return None
