"""A cloud with a clock, hosts, users and clients, for the tests of the model."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session
from novaclient import client

from lease_scheduler.rehearsal.cloud.cloud import Cloud, HostSize
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.options import Options
from lease_scheduler.rehearsal.cloud.timing import Timing

HOSTS = ("host1", "host2", "host3")

#: Longer than any work takes by default.
LONG = 600.0


class Clock:
    """Calls functions in the order of their instants."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self._due: list[tuple[float, int, Callable[[], Any]]] = []
        self._numbers = count()

    def call_later(self, seconds: float, function: Callable[[], Any]) -> None:
        heapq.heappush(self._due, (self.now + seconds, next(self._numbers), function))

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self._due and self._due[0][0] <= end:
            self.now, _, function = heapq.heappop(self._due)
            function()
        self.now = end


class Site:
    """A cloud of three hosts, one image and one flavor, with an administrator and a member of a project.

    :ivar heard: publisher, type, payload and context of each notification
    """

    def __init__(self, options: Options | None = None, seed: int = 1) -> None:
        self.clock = Clock()
        self.heard: list[tuple[str, str, Any, Any]] = []
        timing = Timing(lambda: self.clock.now, self.clock.call_later, Random(seed))
        self.cloud = Cloud(timing, lambda *told: self.heard.append(told), options)
        for host in HOSTS:
            self.cloud.add_host(host, HostSize(vcpus=10, memory_mb=8192, disk_gb=100))
        self.flavor = self.cloud.add_flavor("small", 1024, 1, 1, id="small").id
        self.image = self.cloud.add_image("tiny").id
        self.project = self.cloud.add_project("physics").id
        self.service_project = self.cloud.add_project("service").id
        roles = {self.service_project: ["admin"], self.project: ["admin"]}
        self.admin_id = self.cloud.add_user("admin", "secret", roles).id
        self.member_id = self.cloud.add_user("mallory", "secret", {self.project: ["member", "reader"]}).id

    def session(self, user: str = "admin", project: str = "service", **scope: Any) -> Session:
        """Return a session of a user."""
        said = scope or {"project_name": project, "project_domain_id": "default"}
        auth = Password(self.cloud.auth_url, username=user, password="secret", user_domain_id="default", **said)
        return Session(auth=auth)

    def nova(self, user: str = "admin", project: str = "physics", version: str = "2.93") -> Any:
        """Return novaclient's client."""
        return client.Client(version, session=self.session(user, project))

    def boot(self, nova: Any, seconds: float = LONG, **options: Any) -> Any:
        """Boot a server and let time pass."""
        made = nova.servers.create("job", self.image, self.flavor, nics="none", **options)
        self.clock.run(seconds)
        return nova.servers.get(made.id)

    def record(self, server: Any) -> Server:
        """Return what the model knows of a server."""
        return self.cloud.nova.servers[server.id]

    def used(self, host: str, name: str = "MEMORY_MB") -> int:
        """Return how much of a class is taken from a host."""
        return self.cloud.placement.usages(self.cloud.nova.hosts[host].provider_id).get(name, 0)

    def events(self) -> list[str]:
        """Return the types of the notifications."""
        return [event for _, event, _, _ in self.heard]
