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

#: Longest time that anything may take, in seconds.
LIMIT = 60.0

HEADERS = {"X-Auth-Token": "anything", "OpenStack-API-Version": "reservation latest"}


class Rest:
    """The REST interface of a service.

    :param headers: identify the user; an administrator by default
    """

    def __init__(self, service: ReservationService, **headers: str) -> None:
        self._service = service
        self._headers = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}

    def ask(self, method: str, path: str, body: Document | None = None) -> requests.Response:
        """Send a request and return the answer, whatever its status."""
        url = f"{self._service.url}/v1/{path}"
        return requests.request(method, url, json=body, headers=self._headers, timeout=LIMIT)

    def get(self, path: str) -> Document:
        """Return the body of an answer, which must not be an error."""
        return self._good(self.ask("GET", path))

    def post(self, path: str, body: Document) -> Document:
        """Send a body and return the body of the answer, which must not be an error."""
        return self._good(self.ask("POST", path, body))

    def _good(self, answer: requests.Response) -> Document:
        assert answer.status_code < 300, answer.text
        found: Document = answer.json()
        return found

    def register(self, count: int) -> None:
        """Add the first hosts of the cloud to the pool."""
        for number in range(1, count + 1):
            self.post("os-hosts", {"name": f"compute-{number}"})

    def lease(self, name: str, kind: str, **terms: Any) -> Document:
        """Create a lease of ``count`` whole hosts of the simulated cloud; other terms have the API's defaults."""
        nodes = [{"count": terms.pop("count", 1), "resources": {"VCPU": 8, **terms.pop("resources", {})}}]
        found: Document = self.post("leases", {"name": name, "kind": kind, "nodes": nodes, **terms})["lease"]
        return found

    def state(self, lease: Document) -> str:
        """Return the state of a lease."""
        return str(self.get(f"leases/{lease['id']}")["lease"]["state"])

    def calendar(self) -> Document:
        """Return what the page is sent for the past day and the coming days."""
        return self.get("calendar")

    def now(self) -> int:
        """Return the present instant of the service's clock."""
        return int(self.calendar()["now"])


def date(instant: int) -> str:
    """Return an instant in the format that the API reads."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def until(find: Callable[[], Value], limit: float = LIMIT) -> Value:
    """Wait until a function finds something, and return that."""
    end = time.monotonic() + limit
    while not (found := find()):
        assert time.monotonic() < end, "did not come true in time"
        time.sleep(0.05)
    return found
