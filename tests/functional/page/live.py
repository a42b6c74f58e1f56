"""Requests that the tests of the page send to the real service."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypeVar

import requests

from tests.servers.reservation import ReservationService

Document = dict[str, Any]
Make = Callable[..., "Live"]
Value = TypeVar("Value")

_HEADERS = {"X-Auth-Token": "anything", "OpenStack-API-Version": "reservation latest"}
_LIMIT = 60.0
#: At most as many connections as a session keeps.
_SIDE_BY_SIDE = 10


class Live:
    """The real service, as a tenant uses it."""

    def __init__(self, service: ReservationService) -> None:
        self.service = service
        self._session = requests.Session()
        self._session.headers.update(_HEADERS)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def ask(self, method: str, path: str, body: Document | None = None) -> Document:
        """Send a request and return the body of the answer, which must not be an error."""
        answer = self._session.request(method, f"{self.service.url}/v1/{path}", json=body, timeout=_LIMIT)
        assert answer.status_code < 300, answer.text
        found: Document = answer.json() if answer.content else {}
        return found

    def register(self, count: int) -> None:
        """Add the first hosts of the cloud to the pool."""
        names = [f"compute-{number}" for number in range(1, count + 1)]
        # An answer takes 50 ms here, most of it idle.
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            list(pool.map(lambda name: self.ask("POST", "os-hosts", {"name": name}), names))

    def lease(self, name: str, kind: str, count: int, **terms: Any) -> str:
        """Create a lease of a number of whole hosts of the simulated cloud and return its id."""
        nodes = [{"count": count, "resources": {"VCPU": 8, "MEMORY_MB": 1024}}]
        body = {"name": name, "kind": kind, "nodes": nodes, **terms}
        return str(self.ask("POST", "leases", body)["lease"]["id"])

    def state(self, lease_id: str) -> str:
        """Return the state of a lease."""
        return str(self.ask("GET", f"leases/{lease_id}")["lease"]["state"])

    def now(self) -> int:
        """Return the present instant of the service's clock."""
        return int(self.ask("GET", "calendar")["now"])


def date(instant: int) -> str:
    """Return an instant in the format that the API reads."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def until(find: Callable[[], Value], limit: float = _LIMIT) -> Value:
    """Wait until a function finds something, and return that."""
    end = time.monotonic() + limit
    while not (found := find()):
        assert time.monotonic() < end, "did not come true in time"
        time.sleep(0.05)
    return found
