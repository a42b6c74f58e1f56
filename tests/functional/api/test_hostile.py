"""Whatever is sent to the service, it says what is wrong with it, and is as it was."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests
from jsonschema import Draft202012Validator

from lease_scheduler.api.microversions import HISTORY, MAXIMUM, MINIMUM, Version
from lease_scheduler.api.routes import ROUTES, Route
from lease_scheduler.api.schemas.base import ERROR, MAXIMUM_INTEGER, Parameter
from lease_scheduler.api.validation import join
from tests.functional.api.examples import examples, places, replaced
from tests.servers.reservation import ReservationService

_LATEST = {"X-Auth-Token": "anything", "OpenStack-API-Version": "reservation latest"}
_JSON = {**_LATEST, "Content-Type": "application/json"}
_LIMIT = 60.0
_MAXIMUM_BODY = 1_048_576

_WITH_BODY = [route for route in ROUTES if route.body is not None]
_NAMED = {"GET": "get", "PUT": "put", "PATCH": "patch", "POST": "post", "DELETE": "delete"}
#: One value of each JSON type.
_VALUES: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "integer": 7,
    "number": 1.5,
    "string": "\u2603",
    "array": [[]],
    "object": {"\u2603": {}},
}


@dataclass(frozen=True)
class Target:
    """The service, and what is in it.

    :ivar names: what stands for the variable parts of paths
    """

    service: ReservationService
    session: requests.Session
    names: dict[str, str]

    def path(self, route: Route) -> str:
        """The path of a route, to what there is."""
        return route.path.format(**self.names)

    def send(self, method: str, path: str, **options: Any) -> requests.Response:
        """The answer to a request."""
        headers = options.pop("headers", _JSON)
        return self.session.request(
            method, f"{self.service.url}{path}", headers=headers, timeout=_LIMIT, allow_redirects=False, **options
        )

    def state(self) -> list[Any]:
        """Everything that a request could have changed."""
        paths = ("leases?all_projects=true", "os-hosts", "floatingips", "series", "maintenances")
        bodies = [self.send("GET", f"/v1/{path}", headers=_LATEST) for path in paths]
        properties = self.send("GET", "/v1/os-hosts/properties?detail=true&all=true", headers=_LATEST)
        return [answer.json() for answer in [*bodies, properties] if answer.raise_for_status() is None]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The service with two hosts, a running lease, a series and an address."""
    folder: Path = tmp_path_factory.mktemp("service")
    service = ReservationService(folder, configuration="[simulated_cloud]\nhosts = 2\n")
    session = requests.Session()
    try:
        service.start()
        target = Target(service, session, {})

        def create(path: str, key: str, body: dict[str, Any]) -> str:
            answer = target.send("POST", f"/v1/{path}", json=body)
            assert answer.status_code == 201, answer.text
            return str(answer.json()[key]["id"])

        lease: dict[str, Any] = {"name": "one", "nodes": [{"count": 1, "resources": {"VCPU": 1}}], "duration": "1h"}
        repeated = {**lease, "kind": "reservation", "start_date": "2090-01-31 12:00"}
        host = create("os-hosts", "host", {"name": "compute-1", "gpu": "yes"})
        create("os-hosts", "host", {"name": "compute-2"})
        target.names.update(
            host_id=host,
            property_name="gpu",
            lease_id=create("leases", "lease", {**repeated, "name": "two"}),
            series_id=create("series", "series", {"rule": "FREQ=DAILY;COUNT=2", "lease": repeated}),
            floatingip_id=create(
                "floatingips", "floatingip", {"floating_network_id": "public", "floating_ip_address": "192.0.2.1"}
            ),
        )
        yield target
    finally:
        session.close()
        service.kill()


@pytest.fixture
def target(running: Target) -> Iterator[Target]:
    """The service, which must be afterwards as it was before."""
    before = running.state()
    yield running
    assert running.service.is_healthy()
    assert running.state() == before


def refused(answer: requests.Response, code: int | tuple[int, ...] = 400, field: str | None = None) -> str:
    """The message of an answer that must be an error of the right form."""
    codes = (code,) if isinstance(code, int) else code
    assert answer.status_code in codes, (answer.request.url, str(answer.request.body)[:300], answer.text[:300])
    return _refused_body(answer.status_code, answer.headers.get("Content-Type", ""), answer.content, field)


def _refused_body(code: int, content_type: str, content: bytes, field: str | None) -> str:
    assert content_type == "application/json", (code, content[:300])
    assert len(content) < 4_000
    body = json.loads(content)
    Draft202012Validator(ERROR).validate(body)
    assert code == body.get("error_code", body.get("error"))
    message = str(body["error_message"])
    if field is not None:
        assert body["field"] == field, message
    return message


# Bodies.


def _kinds(schema: dict[str, Any]) -> set[str]:
    """The names of the JSON types that a schema takes."""
    if "anyOf" in schema and "type" not in schema:
        return {kind for branch in schema["anyOf"] for kind in _kinds(branch)}
    kind = schema["type"]
    kinds = {kind} if isinstance(kind, str) else set(kind)
    return kinds | {"integer"} if "number" in kinds else kinds


def _wrong(schema: dict[str, Any]) -> list[Any]:
    """Values that a schema does not take."""
    kinds = _kinds(schema)
    values = [value for kind, value in _VALUES.items() if kind not in kinds]
    if "maximum" in schema:
        values += [10**400, -(10**400), schema["maximum"] + 1, schema["minimum"] - 1]
    if "maxLength" in schema:
        values.append("x" * (schema["maxLength"] + 1))
    if "enum" in schema or "const" in schema:
        values.append("\u2603")
    if "maxItems" in schema and schema["maxItems"] <= 100:
        values.append([None] * (schema["maxItems"] + 1))
    return values


@pytest.mark.parametrize("version", [MINIMUM, MAXIMUM], ids=str)
@pytest.mark.parametrize("route", _WITH_BODY, ids=lambda route: str(route.name))
def test_wrong_types_and_sizes_of_every_key(target: Target, route: Route, version: Version) -> None:
    if route.since > version or route.body is None:
        pytest.skip("it is not there at this microversion")
    schema, path = route.body(version), target.path(route)
    headers = {**_JSON, "OpenStack-API-Version": f"reservation {version}"}
    tried = set()
    for example in examples(schema):
        for place, inner in places(schema, example):
            for value in _wrong(inner):
                body = json.dumps(replaced(example, place, value))
                if body in tried:
                    continue
                tried.add(body)
                message = refused(target.send(route.method, path, data=body, headers=headers))
                named = join(place) or "body"
                assert named in message, (body[:400], message)
    assert len(tried) > 5
