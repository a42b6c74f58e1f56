"""The embedded service as its users see it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import requests

from tests.servers.reservation import ReservationService

Document = dict[str, Any]
Value = TypeVar("Value")

#: Longest time that anything may take, s.
LIMIT = 60.0

_HEADERS = {"X-Auth-Token": "anything", "OpenStack-API-Version": "reservation latest"}


class Rest:
    """The REST interface of a service.

    :param headers: who asks; an administrator unless they say something else
    """

    def __init__(self, service: ReservationService, **headers: str) -> None:
        self._service = service
        self._headers = _HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}

    def ask(self, method: str, path: str, body: Document | None = None) -> requests.Response:
        """The answer to a request, whatever it is."""
        url = f"{self._service.url}/v1/{path}"
        return requests.request(method, url, json=body, headers=self._headers, timeout=LIMIT)

    def get(self, path: str) -> Document:
        """Body of an answer that must be a good one."""
        return self._good(self.ask("GET", path))

    def post(self, path: str, body: Document) -> Document:
        """Body of an answer that must be a good one."""
        return self._good(self.ask("POST", path, body))

    def _good(self, answer: requests.Response) -> Document:
        assert answer.status_code < 300, answer.text
        found: Document = answer.json()
        return found

    def register(self, count: int) -> None:
        """Take the first hosts of the cloud into the pool."""
        for number in range(1, count + 1):
            self.post("os-hosts", {"name": f"compute-{number}"})

    def lease(self, name: str, kind: str, **terms: Any) -> Document:
        """Make a lease of ``count`` whole hosts of the simulated cloud; the other terms are as the API has them."""
        nodes = [{"count": terms.pop("count", 1), "resources": {"VCPU": 8, **terms.pop("resources", {})}}]
        found: Document = self.post("leases", {"name": name, "kind": kind, "nodes": nodes, **terms})["lease"]
        return found

    def state(self, lease: Document) -> str:
        """State of a lease."""
        return str(self.get(f"leases/{lease['id']}")["lease"]["state"])

    def calendar(self) -> Document:
        """What the page is told of the last day and the coming ones."""
        return self.get("calendar")

    def now(self) -> int:
        """The instant of the service's clock."""
        return int(self.calendar()["now"])


def date(instant: int) -> str:
    """An instant as the API reads it."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def until(find: Callable[[], Value], limit: float = LIMIT) -> Value:
    """What is found, as soon as it is true."""
    end = time.monotonic() + limit
    while not (found := find()):
        assert time.monotonic() < end, "did not come true in time"
        time.sleep(0.05)
    return found
