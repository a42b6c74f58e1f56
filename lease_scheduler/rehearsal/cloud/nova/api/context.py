"""What the handlers of the compute API share."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.keystone.tokens import Guard
from lease_scheduler.rehearsal.cloud.nova.compute.building import Building
from lease_scheduler.rehearsal.cloud.nova.compute.computes import Computes
from lease_scheduler.rehearsal.cloud.nova.compute.deleting import Deleting
from lease_scheduler.rehearsal.cloud.nova.compute.imaging import Imaging
from lease_scheduler.rehearsal.cloud.nova.compute.moving import Moving
from lease_scheduler.rehearsal.cloud.nova.compute.power import Power
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.nova.store import Store

#: Number of entries of a page.
PAGE = 1000


class Context:
    """The store, the kinds of work, and who asks.

    :param guard: returns who a token belongs to
    """

    def __init__(self, tools: Tools, guard: Guard) -> None:
        self.store: Store = tools.store
        self.computes: Computes = tools.computes
        self.tools = tools
        self.who = guard
        self.power = Power(tools)
        self.building = Building(tools)
        self.imaging = Imaging(tools)
        self.moving = Moving(tools)
        self.deleting = Deleting(tools, self.moving)

    def admin(self, request: Request, what: str) -> Identity:
        """Return who asks.

        :param what: name of the policy
        :raises Refusal: they are no administrator
        """
        found = self.who(request)
        if not found.is_admin:
            raise Refusal(403, f"Policy doesn't allow os_compute_api:{what} to be performed.")
        return found

    def server(self, request: Request, server_id: str) -> Server:
        """Return a server that the one who asks may see.

        :raises Refusal: there is none
        """
        return self.store.server(server_id, self.who(request))


def page(found: list[Any], request: Request, key: str = "id") -> tuple[list[Any], bool]:
    """Return the entries of the requested page, and whether more follow.

    :param key: attribute that a marker names
    :raises Refusal: there is no entry with the marker
    """
    marker = request.query.get("marker")
    if marker is not None:
        ids = [str(getattr(each, key)) for each in found]
        if marker not in ids:
            raise Refusal(400, f"Marker {marker} could not be found.")
        found = found[ids.index(marker) + 1 :]
    limit = min(int(request.query.get("limit") or PAGE), PAGE)
    return found[:limit], len(found) > limit
