"""Claims in Placement that servers release before they have left their host.

In Nova, a server keeps what it has in Placement as long as it is on its host. Nova does not shelve servers with a
virtual TPM, for example, or if the image store does not take the image. Such a server is stopped, which leaves its disk
where it is, and what it has in Placement is released. It claims the same again before it is started.

A server that is being shelved is switched off while its disk is copied, which may take long. A lease does not wait for
that: what the server has is released when the lease should have its host.
"""

from __future__ import annotations

import logging
from typing import Any

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import SERVER, NoRoomError, Placement

LOG = logging.getLogger(__name__)


class GivenUpRoom:
    """The released claims. They are in the reason of a server's lock, which only administrators can change."""

    def __init__(self, placement: Placement, nodes: Nodes, locks: Locks) -> None:
        self._placement = placement
        self._nodes = nodes
        self._locks = locks

    def is_given_up(self, server: Any) -> bool:
        """Return whether a server is stopped, or switched off to be shelved, and has released its claims.

        Its project could have locked it with such a reason, but cannot release its claims.
        """
        said = self._locks.reason(server)
        is_off = server.status in of.ASIDE or of.is_copied_away(server)
        return is_off and said is not None and bool(said.claims) and not self._held(server)

    def give_up(self, server: Any) -> None:
        """Release the claims of a server that is switched off. Repeated calls change nothing.

        :raises StepFailedError: it has claims on nested providers, and would keep its devices
        """
        held = self._held(server)
        if not held:
            return
        if len(held) > 1:
            raise StepFailedError(f"server {server.id} cannot be shelved and has devices", of.host(server))
        (amounts,) = held.values()
        if of.is_copied_away(server):
            LOG.info("server %s gives up its room while its disk is copied", server.id)
        else:
            LOG.warning("server %s cannot be shelved: it is stopped, and gives up its room", server.id)
        # In this order, so that what was released is always known.
        self._locks.lock(server, amounts)
        self._placement.release(server.id)

    def take_back(self, server: Any) -> bool:
        """Claim again what a server has released, if anything. Return False if others have it now."""
        said, service = self._locks.reason(server), of.service(server)
        if said is None or not said.claims or service is None or self._held(server):
            return True
        (host,) = self._nodes.names([service])
        claims = {self._nodes.node(host).provider_id: said.claims}
        try:
            self._placement.hold(server.id, claims, server.tenant_id, server.user_id, SERVER)
        except NoRoomError:
            return False
        return True

    def _held(self, server: Any) -> Any:
        return self._placement.held(server.id)
