"""Helpers of the tests of hostile requests: a service with some content, and ways to send."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import dataclass, field
from typing import Any

import requests
from jsonschema import Draft202012Validator

from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.schemas.base import error
from tests.servers.reservation import ReservationService

LATEST = {"X-Auth-Token": "anything", "OpenStack-API-Version": "reservation latest"}
JSON = {**LATEST, "Content-Type": "application/json"}
STATE = (
    "leases?all_projects=true",
    "os-hosts",
    "floatingips",
    "series",
    "subscriptions",
    "feeds",
    "flows?all_projects=true",
    "maintenances",
    "os-hosts/properties?detail=true&all=true",
)
_LIMIT = 60.0
MAXIMUM_BODY = 1_048_576

WITH_BODY = [route for route in ROUTES if route.body is not None]


@dataclass(frozen=True)
class Target:
    """The service and its content.

    :ivar names: values for the variable parts of paths
    :ivar before: the state before all tests
    """

    service: ReservationService
    session: requests.Session
    names: dict[str, str] = field(default_factory=dict)
    before: list[Any] = field(default_factory=list)

    def path(self, route: Route) -> str:
        """Return the path of a route, filled in so that it names something that exists."""
        return route.path.format(**self.names)

    def send(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send a request and return the answer."""
        headers = options.pop("headers", JSON)
        return self.session.request(
            method, f"{self.service.url}{path}", headers=headers, timeout=_LIMIT, allow_redirects=False, **options
        )

    def state(self, *paths: str) -> list[Any]:
        """Return everything that a request could have changed, or only what some paths show."""
        answers = [self.send("GET", f"/v1/{path}", headers=LATEST) for path in paths or STATE]
        assert all(answer.status_code == 200 for answer in answers)
        return [answer.json() for answer in answers]


def refused(answer: requests.Response, code: int | tuple[int, ...] = 400, field: str | None = None) -> str:
    """Check that an answer is a well-formed error, and return its message."""
    codes = (code,) if isinstance(code, int) else code
    assert answer.status_code in codes, (answer.request.url, str(answer.request.body)[:300], answer.text[:300])
    return refused_body(answer.status_code, answer.headers.get("Content-Type", ""), answer.content, field)


def refused_body(code: int, content_type: str, content: bytes, field: str | None) -> str:
    assert content_type == "application/json", (code, content[:300])
    assert len(content) < 4_000
    body = json.loads(content)
    Draft202012Validator(error(MAXIMUM)).validate(body)
    assert code == body.get("error_code", body.get("error"))
    message = str(body["error_message"])
    if field is not None:
        assert body["field"] == field, message
    return message


def lease_body(**terms: Any) -> bytes:
    nodes = [{"count": 1, "resources": {"VCPU": 1}}]
    lease = {"name": "x", "start_date": "2090-01-31 12:00", "end_date": "2090-02-01 12:00", "nodes": nodes}
    return json.dumps(lease | terms).encode()


def exchange(target: Target, *parts: bytes) -> tuple[int, str, bytes]:
    """Send raw bytes and return status, content type and body of the answer."""
    with socket.create_connection(("127.0.0.1", target.service.port), timeout=_LIMIT) as connection:
        for part in parts:
            connection.sendall(part)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.headers.get("Content-Type", ""), answer.read()


def head(method: str = "POST", path: str = "/v1/leases", *headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{key}: {JSON[key]}" for key in JSON), *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
