"""The service with limits and filters, and the servers that it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.servers.reservation import ReservationService

from .outside import Decider, Keystone

_HEADERS = {"OpenStack-API-Version": "reservation latest"}


class Client:
    """Sends requests to a service over REST."""

    def __init__(self, service: ReservationService) -> None:
        self.service = service

    def fill_pool(self) -> None:
        for number in range(1, 5):
            assert self.ask("POST", "os-hosts", json={"name": f"compute-{number}"}).status_code == 201

    def ask(self, method: str, path: str, project: str = "admin", **values: Any) -> requests.Response:
        headers = {**_HEADERS, "X-Project-Id": project}
        return requests.request(method, f"{self.service.url}/v1/{path}", headers=headers, timeout=60, **values)

    def create(self, project: str = "admin", count: int = 1, **body: Any) -> requests.Response:
        """Create an immediate lease of whole hosts for one hour, unless the body says otherwise."""
        defaults = {
            "name": "lease",
            "kind": "immediate",
            "duration": 3_600,
            "nodes": [{"count": count, "resources": {"VCPU": 8}, "exclusive": True}],
        }
        return self.ask("POST", "leases", project, json={**defaults, **body})

    def lease_count(self, project: str = "admin") -> int:
        return len(self.ask("GET", "leases", project).json()["leases"])


Start = Callable[[str], Client]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the service with the options of a group ``enforcement`` and with a pool of four hosts."""
    running: list[ReservationService] = []

    def begin(configuration: str) -> Client:
        service = ReservationService(tmp_path, configuration=f"[simulated_cloud]\nhosts = 4\n{configuration}")
        running.append(service)
        service.start()
        client = Client(service)
        client.fill_pool()
        return client

    yield begin
    for service in running:
        service.kill()


@pytest.fixture
def decider() -> Iterator[Decider]:
    server = Decider()
    yield server
    server.stop()


@pytest.fixture
def keystone() -> Iterator[Keystone]:
    server = Keystone()
    yield server
    server.stop()
