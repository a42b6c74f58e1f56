"""The ends of live migrations: when Nova is done with a server, and repair if it then wrongly reports a failure.

Nova changes the host of a server as soon as it runs there, and cleans up on the old host afterwards. Its last action is
to release what the migration has of that host in Placement. If Placement refuses, because others change the same
provider at the same time, Nova gives up and says that the server has failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any

from lease_scheduler.cloud.nova.api import server as of

LOG = logging.getLogger(__name__)

#: Nova's type of a live migration, and its status of a failed one.
LIVE = "live-migration"
FAILED = "error"

#: Maximum real seconds to wait until Nova has cleaned up on the old host of a server that has arrived.
_CLEANING = 30.0


class Arrivals:
    """Detector of ends. It reads all facts from Nova and Placement, so it does not matter which engine moved a server.

    :param nova: novaclient's client with administrator rights
    :param held: returns what a consumer has in Placement
    :param release: releases what a consumer has in Placement
    """

    def __init__(self, nova: Any, held: Callable[[str], Mapping[str, object]], release: Callable[[str], None]) -> None:
        self._nova = nova
        self._held = held
        self._release = release
        self._lock = Lock()
        #: Server -> seconds at which it was first seen on its new host.
        self._since: dict[str, float] = {}

    def is_over(self, server: Any) -> bool:
        """Return whether Nova is done with a server that has arrived."""
        with self._lock:
            waited = monotonic() - self._since.setdefault(server.id, monotonic())
        last = self._last_to_its_host(server)
        return last is None or waited > _CLEANING or not self._held(last.uuid)

    def mend(self, server: Any) -> bool:
        """Repair a server that runs on its new host although Nova says that it has failed.

        Reset its state, and release what its migration has on the old host. If the migration has nothing any more, the
        server has failed for another reason.

        :return: whether there was anything to repair
        """
        if server.status != of.ERROR or of.is_busy(server):
            return False
        last = self._last_to_its_host(server)
        if last is None or last.status != FAILED or not self._held(last.uuid):
            return False
        LOG.warning("server %s runs on %s; its state is reset: %s", server.id, of.service(server), of.fault(server))
        # In this order, because if the engine dies in between, only a stale claim is left, which is released later.
        of.command(self._nova.servers.reset_state, server, "active")
        self._release(last.uuid)
        return True

    def forget(self, server_id: str) -> None:
        """Forget a server whose move is over."""
        with self._lock:
            self._since.pop(server_id, None)

    def _last_to_its_host(self, server: Any) -> Any:
        """Return the last migration of a server if it was live and brought the server to its host, or None."""
        here = of.service(server)
        last = self._nova.migrations.list(instance_uuid=server.id, limit=1)
        found = [each for each in last if each.migration_type == LIVE and each.dest_compute == here]
        return found[0] if found else None
