"""Servers that are moved while they run: when Nova is done with them, and what it then says of them.

Nova changes the host of a server as soon as it runs there, and cleans up on the old host afterwards: last of all, it
releases what the migration has of that host in Placement. If Placement refuses, because others change the same provider
at that moment, Nova gives up and says that the server has failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any

from lease_scheduler.cloud.nova.api import server as of

LOG = logging.getLogger(__name__)

#: What Nova calls a migration of a server that runs, and one that has failed.
LIVE = "live-migration"
FAILED = "error"

#: Seconds, at most, that Nova is given to clean up on the old host of a server that has arrived.
_CLEANING = 30.0


class Arrivals:
    """See the module. Nova and Placement tell what is to be mended, so it does not matter which engine moved a server.

    :param nova: novaclient's client with administrator rights
    :param held: returns what a consumer has in Placement
    :param release: releases it
    """

    def __init__(self, nova: Any, held: Callable[[str], Mapping[str, object]], release: Callable[[str], None]) -> None:
        self._nova = nova
        self._held = held
        self._release = release
        self._lock = Lock()
        #: Server -> when it was first seen on its new host.
        self._since: dict[str, float] = {}

    def is_over(self, server: Any) -> bool:
        """Return whether Nova is done with a server that has arrived."""
        with self._lock:
            waited = monotonic() - self._since.setdefault(server.id, monotonic())
        last = self._last_to_its_host(server)
        return last is None or waited > _CLEANING or not self._held(last.uuid)

    def mend(self, server: Any) -> bool:
        """Reset the state of a server that runs on its new host, and release what it had on the old one.

        If the migration has nothing any more, the server has failed of another cause.

        :return: whether Nova said that it has failed
        """
        if server.status != of.ERROR or of.is_busy(server):
            return False
        last = self._last_to_its_host(server)
        if last is None or last.status != FAILED or not self._held(last.uuid):
            return False
        LOG.warning("server %s runs on %s; its state is reset: %s", server.id, of.service(server), of.fault(server))
        # In this order: if the engine is killed in between, only a stale claim is left, which is released later.
        of.command(self._nova.servers.reset_state, server, "active")
        self._release(last.uuid)
        return True

    def forget(self, server_id: str) -> None:
        """Forget a server whose move is over."""
        with self._lock:
            self._since.pop(server_id, None)

    def _last_to_its_host(self, server: Any) -> Any:
        """Return the last migration of a server if it brought it to its host while it ran; None otherwise."""
        here = of.service(server)
        last = self._nova.migrations.list(instance_uuid=server.id, limit=1)
        found = [each for each in last if each.migration_type == LIVE and each.dest_compute == here]
        return found[0] if found else None
