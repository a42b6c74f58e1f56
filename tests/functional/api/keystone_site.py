"""A site with real identities: API and engine as processes, Keystone, RabbitMQ and MariaDB."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.functional.service.programs import Programs
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.keystone import Keystone, User
from tests.servers.mariadb import MariaDB
from tests.servers.preloaded import PreloadedProcess
from tests.servers.rabbitmq import RabbitMQ

Document = dict[str, Any]

LIMIT = 90.0
DAY = 86_400

_BIN = Path(sys.executable).parent
_VERSION = "reservation latest"


class Site:
    """API and engine as processes, their entry in the catalogue, and users of two projects.

    :param lines: further lines of the configuration file
    :ivar url: of the API
    """

    def __init__(
        self, folder: Path, keystone: Keystone, database_url: str, transport_url: str, lines: str = ""
    ) -> None:
        self.keystone = keystone
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.service = keystone.user("reservation", keystone.project("service"), "service")
        physics, biology = keystone.project("physics"), keystone.project("biology")
        self.member = keystone.user("member", physics, "member")
        self.reader = keystone.user("reader", physics, "reader")
        self.stranger = keystone.user("stranger", biology, "member")
        self.admin = keystone.user("operator", keystone.project("operators"), "admin")
        self.peer_role = keystone.role("lease-peer")
        self.peer = keystone.user("northern-site", physics, "member")
        keystone.give_role(self.peer.id, physics, self.peer_role)
        self.programs = Programs(folder, database_url, transport_url, hosts=2, lines=self._lines(port) + lines)
        self.engine = self.programs.engine()
        self.log = folder / "api.log"
        self.start_api()
        self._entry = keystone.service("reservation", f"{self.url}/v1")
        self._tokens: dict[str, str] = {}

    def _lines(self, port: int) -> str:
        middleware = self.keystone.middleware(self.service)
        return f"[api]\nport = {port}\npeer_role = {self.peer_role}\n{middleware}http_request_max_retries = 1\n"

    def begin(self) -> None:
        """Wait until the programs answer, and add the hosts to the pool."""
        assert wait_until(lambda: not self.api.is_running() or self.is_healthy(), LIMIT)
        assert self.api.is_running(), self.log.read_text()
        for number in (1, 2):
            # Until an engine leads, the answer is 503.
            assert wait_until(
                lambda number=number: self.ask(self.admin, "POST", "os-hosts", {"name": f"compute-{number}"}).ok,  # type: ignore[misc]
                LIMIT,
            )

    def start_api(self) -> None:
        """Start the API."""
        arguments = ["--config-file", str(self.programs.configuration_file)]
        self.api: OwnProcess = PreloadedProcess("lease-scheduler-api", "lease-scheduler-api", arguments, self.log)

    def is_healthy(self) -> bool:
        """Return whether the API answers."""
        try:
            return requests.get(f"{self.url}/healthcheck", timeout=5).ok
        except requests.RequestException:
            return False

    def close(self) -> None:
        """End the programs."""
        self.api.kill()
        self.programs.close()
        self.keystone.ensure_running()
        self.keystone.remove_service(self._entry)

    def token(self, user: User) -> str:
        """Return a token of the user, the same one every time."""
        if user.id not in self._tokens:
            self._tokens[user.id] = self.keystone.token(user)
        return self._tokens[user.id]

    def ask(self, user: User, method: str, path: str, body: Document | None = None) -> requests.Response:
        """Send a user's request to a path below ``/v1/`` and return the answer."""
        return self.send(method, f"v1/{path}", {"X-Auth-Token": self.token(user)}, body)

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: Document | None = None
    ) -> requests.Response:
        """Send a request with these headers and return the answer."""
        sent = {"OpenStack-API-Version": _VERSION, **headers}
        return requests.request(method, f"{self.url}/{path}", json=body, headers=sent, timeout=LIMIT)

    def lease(self, user: User, **terms: Any) -> Document:
        """Create a lease of one whole host for a day from now on, unless the terms say otherwise."""
        body = body_of(**terms)
        answer = self.ask(user, "POST", "leases", body)
        assert answer.status_code == 201, answer.text
        made: Document = answer.json()["lease"]
        return made

    def ids(self, user: User, query: str = "") -> set[str]:
        """Return the ids of the leases that the API lists for a user."""
        answer = self.ask(user, "GET", f"leases{query}")
        assert answer.status_code == 200, answer.text
        return {lease["id"] for lease in answer.json()["leases"]}


def body_of(**terms: Any) -> Document:
    nodes = [{"count": 1, "resources": {"VCPU": 8}}]
    return {"name": f"lease-{uuid.uuid4()}", "kind": "best-effort", "duration": DAY, "nodes": nodes, **terms}


@contextmanager
def running_site(
    folder: Path, keystone: Keystone, mariadb_server: MariaDB, rabbitmq_server: RabbitMQ, lines: str = ""
) -> Iterator[Site]:
    """Run a site with two hosts in its pool."""
    name = f"keystone_{uuid.uuid4().hex}"
    for server in (keystone, mariadb_server, rabbitmq_server):
        server.ensure_running()
    database_url, transport_url = mariadb_server.create_database(name), rabbitmq_server.create_virtual_host(name)
    made = Site(folder, keystone, database_url, transport_url, lines)
    try:
        made.begin()
        yield made
    finally:
        made.close()
        for server in (mariadb_server, rabbitmq_server):
            server.ensure_running()
        mariadb_server.drop_database(name)
        rabbitmq_server.drop_virtual_host(name)
