"""A Nova whose servers belong to a project of its own, with clients of that project's members."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token
from novaclient import client
from novaclient.exceptions import ClientException, NotFound

from tests.in_nova.functional.site import LIMIT, POLL, NovaSite

TENANT = "7e9f0ed0a1b24c1d9a3bd1c7a7c51f0e"


class TenantSite(NovaSite):
    """The service's own project differs from that of the servers, as in real clouds: locks depend on it.

    :ivar tenant: client of a member of the project
    """

    def setUp(self) -> None:
        super().setUp()
        # Loops of attacks must not end because a quota is used up.
        self.flags(group="quota", instances=-1, cores=-1, ram=-1)
        self.project = TENANT
        self.tenant = self.member_of(TENANT)

    def member_of(self, project_id: str) -> Any:
        """Return a Nova client for a member of a project without any other role."""
        session = Session(auth=Token(self.admin_api.base_url, "unused"))
        said = {"X-Auth-User": "mallory", "X-Roles": "member,reader", "X-Auth-Project-Id": project_id}
        session.additional_headers.update(said)
        return client.Client("2.93", session=session)

    def server(self, server: Any) -> Any:
        """Return what Nova says now of a server, or None if there is none."""
        try:
            return self.nova.servers.get(server.id)
        except NotFound:
            return None

    def preemptible(self, ram: int = 512) -> str:
        """Create a preemptible flavor and return its id."""
        flavor = self.nova.flavors.create(f"spot-{uuid4()}", ram, 1, 1)
        flavor.set_keys({"lease:preemptible": "true"})
        return str(flavor.id)

    def boot_tenants(self, flavor_id: str, **options: Any) -> Any:
        """Boot a server of the tenant and return it as the administrator sees it."""
        admin, self.nova = self.nova, self.tenant
        try:
            found = self.boot(flavor_id, **options)
        finally:
            self.nova = admin
        return self.nova.servers.get(found.id)

    def settled(self, server: Any, *wanted: str) -> Any:
        """Wait until Nova has nothing to do with a server, and, if any are given, until it has one of some states."""
        end = time.monotonic() + LIMIT
        while True:
            found = self.nova.servers.get(server.id)
            if getattr(found, "OS-EXT-STS:task_state") is None and (not wanted or found.status in wanted):
                return found
            assert time.monotonic() < end, (found.status, getattr(found, "OS-EXT-STS:task_state"))
            time.sleep(POLL)

    def tries(self, *calls: Callable[[], Any]) -> int:
        """Make calls, of which Nova may refuse any. Return how many it accepted."""
        accepted = 0
        for call in calls:
            with suppress(ClientException):
                call()
                accepted += 1
        return accepted
