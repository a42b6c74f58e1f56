"""The API alone: what can be read is still read, and changes are refused for the time being."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from werkzeug.test import Client

from lease_scheduler.api.routes import ROUTES, Route
from lease_scheduler.api.schemas.base import ERROR
from lease_scheduler.store.sql import migrate

with warnings.catch_warnings():
    # oslo.middleware needs WebOb, which imports a module that Python is about to drop.
    warnings.filterwarnings("ignore", "'cgi' is deprecated", DeprecationWarning)
    from lease_scheduler.cmd import configuration, rest, wiring

_HEADERS = {"OpenStack-API-Version": "reservation latest"}
_NODES = [{"count": 1, "resources": {"VCPU": 1}}]
_LEASE = {"name": "one", "kind": "best-effort", "duration": "1h", "nodes": _NODES}

#: A good body of each request that needs one.
_BODIES: dict[str, dict[str, Any]] = {
    "POST /v1/leases": _LEASE,
    "POST /v1/quotes": _LEASE,
    "POST /v1/os-hosts": {"name": "compute-1"},
    "PUT /v1/os-hosts/{host_id}": {"gpu": "yes"},
    "PATCH /v1/os-hosts/properties/{property_name}": {"private": True},
    "POST /v1/floatingips": {"floating_network_id": "public", "floating_ip_address": "192.0.2.1"},
    "POST /v1/maintenances": {
        "name": "one",
        "start_date": "2090-01-31 12:00",
        "duration": "1h",
        "hosts": ["compute-1"],
    },
    "POST /v1/series": {"rule": "FREQ=DAILY;COUNT=2", "lease": {**_LEASE, "start_date": "2090-01-31 12:00"}},
}
#: Routes whose object is looked up before the engine is asked have nothing to be asked for here.
_CHANGES = [route for route in ROUTES if route.changes and route.subject is None]
_READS = [route for route in ROUTES if not route.changes and "{" not in route.path]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The REST service on an empty database; nobody listens to what it asks of the engine."""
    folder: Path = tmp_path_factory.mktemp("service")
    conf = configuration.load(
        [],
        {
            ("api", "auth_strategy"): "noauth",
            ("database", "connection"): f"sqlite:///{folder}/service.sqlite",
            ("service", "state_path"): str(folder),
            ("service", "engine_timeout"): 1.0,
        },
    )
    wiring.default_transport(conf, "fake://")
    database = wiring.database(conf)
    migrate.upgrade(database)
    database.dispose()
    yield Client(rest.application(conf, *wiring.for_api(conf)))


def _path(route: Route) -> str:
    return route.path.replace("{", "").replace("}", "")


@pytest.mark.parametrize("route", _CHANGES, ids=lambda route: str(route.name))
def test_changes_are_refused_for_the_time_being(client: Client, route: Route) -> None:
    answer = client.open(_path(route), method=route.method, json=_BODIES.get(route.name), headers=_HEADERS)
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["Retry-After"]) > 0
    body = answer.get_json()
    Draft202012Validator(ERROR).validate(body)
    assert body["error_code"] == 503
    assert "engine" in body["error_message"]


@pytest.mark.parametrize("route", _READS, ids=lambda route: str(route.name))
def test_what_there_is_can_be_read(client: Client, route: Route) -> None:
    answer = client.get(_path(route), headers=_HEADERS)
    assert answer.status_code == route.code, answer.text


def test_wrong_requests_are_refused_without_asking(client: Client) -> None:
    answer = client.post("/v1/leases", json={**_LEASE, "name": 7}, headers=_HEADERS)
    assert (answer.status_code, answer.get_json()["field"]) == (400, "name")


def test_the_health_check_answers(client: Client) -> None:
    assert client.get("/healthcheck").status_code == 200
