"""Stale claims: slots of a lease that Nova has claimed in Placement for no server, and will never release.

During a migration, the migration has the claims of its server on the host that the server leaves. If Placement refuses
to release them, because others change the same provider at the same time, Nova gives up and keeps them; see
``nova-manage placement audit`` in Nova's documentation. A server whose move has failed may have such claims, too; see
``failed_moves``. The resource class of such a slot cannot be removed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.listing import all_servers
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.vacating.failed_moves import has_failed

LOG = logging.getLogger(__name__)

#: Maximum number of claims that one call checks. After many servers were deleted, Nova soon releases most by itself.
_AT_ONCE = 20

#: Number of migrations on one page of a list.
_PAGE = 500

#: Statuses of migrations with which Nova does nothing any more.
_OVER = frozenset({"completed", "confirmed", "reverted", "cancelled", "error", "failed"})


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
        gone = {consumer for consumer in sorted(elsewhere)[:_AT_ONCE] if self._is_not_here(consumer)}
        stale = gone - self._reserved(gone, service) if gone else gone
        for consumer in sorted(stale):
            LOG.warning(
                "a slot on host %s is released: %s, which claims it, is no server, or failed on its way", host, consumer
            )
            self._placement.release(consumer)
        return bool(stale)

    def _reserved(self, consumers: Collection[str], service: str) -> frozenset[str]:
        """Return the consumers that are migrations whose servers may still come back to a compute service."""
        found, marker = set[str](), None
        while page := self._nova.migrations.list(host=service, marker=marker, limit=_PAGE):
            found |= {each.uuid for each in page if each.uuid in consumers and self._may_come_back(each, service)}
            marker = page[-1].uuid
        return frozenset(found)

    def _may_come_back(self, migration: Any, service: str) -> bool:
        server = self._server(migration.instance_uuid)
        if server is not None and server.status == of.VERIFY_RESIZE:
            # The lease has left the host, so the server must not go back. It has another flavor or host now.
            of.command(self._nova.servers.confirm_resize, server)
        return server is not None and (migration.status not in _OVER or of.service(server) == service)

    def _is_not_here(self, consumer: str) -> bool:
        """Return whether there is no such server, or Nova shows it on a host to which its last move has failed."""
        server = self._server(consumer)
        if server is None:
            return True
        return any(has_failed(each, server) for each in self._nova.migrations.list(instance_uuid=consumer, limit=1))

    def _server(self, server_id: str) -> Any:
        try:
            return self._nova.servers.get(server_id)
        except NotFound:
            return None
