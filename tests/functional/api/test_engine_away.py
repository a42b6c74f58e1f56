"""The API without an engine: reads still work, and changes are refused for now."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from werkzeug.test import Client, TestResponse

from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.schemas.base import error
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.reader import SqlReader

with warnings.catch_warnings():
    # oslo.middleware needs WebOb, which imports a module that Python has deprecated.
    warnings.filterwarnings("ignore", "'cgi' is deprecated", DeprecationWarning)
    from lease_scheduler.cmd import configuration, rest, wiring

_HEADERS = {"OpenStack-API-Version": "reservation latest"}
_LIMIT = 60.0
_NODES = [{"count": 1, "resources": {"VCPU": 1}}]
_LEASE = {"name": "one", "start_date": "2090-01-31 12:00", "duration": "1h", "nodes": _NODES}
_SERIES = {"rule": "FREQ=DAILY;COUNT=2", "lease": _LEASE}
_MAINTENANCE = {"name": "one", "start_date": "2090-03-31 12:00", "duration": "1h", "hosts": ["compute-1"]}
_SUBSCRIPTION = {"driver": "webhook", "target": "https://192.0.2.1/"}
_ADDRESS = {"floating_network_id": "public", "floating_ip_address": "192.0.2.1"}

#: A valid body for each request that needs one.
_BODIES: dict[str, dict[str, Any]] = {
    "POST /v1/leases": _LEASE,
    "PUT /v1/leases/{lease_id}": {"name": "two"},
    "POST /v1/leases/{lease_id}/action": {"extend": {"by": "1h"}},
    "POST /v1/leases/{lease_id}/quote": {"extend": {"by": "1h"}},
    "POST /v1/quotes": _LEASE,
    "POST /v1/os-hosts": {"name": "compute-2"},
    "PUT /v1/os-hosts/{host_id}": {"gpu": "no"},
    "PATCH /v1/os-hosts/properties/{property_name}": {"private": True},
    "POST /v1/floatingips": {**_ADDRESS, "floating_ip_address": "192.0.2.2"},
    "POST /v1/maintenances": _MAINTENANCE,
    "POST /v1/series": _SERIES,
    "POST /v1/subscriptions": _SUBSCRIPTION,
    "POST /v1/feeds": {"name": "phone"},
    "POST /v1/os-hosts/{host_id}/action": {"sleep": {}},
    "PUT /v1/flows/{flow}": {"weight": 5},
    "PUT /v1/peers/{peer}": {"max_nodes": 5},
    "PUT /v1/subscriptions/{subscription_id}": {"event_types": ["lease.create"]},
}
_CHANGES = [route for route in ROUTES if route.changes]
#: Only a gateway has sites.
_READS = [route for route in ROUTES if not route.changes and "{site}" not in route.path]


class Away:
    """The REST service while its engine is away.

    :param application: the WSGI application
    """

    def __init__(self, application: rest.Application) -> None:
        self._application = application
        self.names: dict[str, str] = {}

    def ask(self, route: Route) -> TestResponse:
        """Send a valid request to a route and return the answer."""
        query = {"vcpus": "1"} if route.path == "/v1/availability" else {}
        return self.send(route.method, route.path.format(**self.names), _BODIES.get(route.name), query)

    def send(
        self, method: str, path: str, body: dict[str, Any] | None = None, query: dict[str, str] | None = None
    ) -> TestResponse:
        """Send a request and return the answer."""
        client = Client(self._application)
        return client.open(path, method=method, json=body, query_string=query, headers=_HEADERS)

    def create(self, path: str, key: str, body: dict[str, Any]) -> str:
        """Create something while the engine runs, and return its id."""
        answer = self.send("POST", path, body)
        assert answer.status_code == 201, answer.text
        return str((answer.get_json())[key]["id"])

    def secret(self) -> str:
        """Return the secret of a new feed."""
        made = self.send("POST", "/v1/feeds", {"name": "wall"})
        return str((made.get_json())["feed"]["url"]).split("/")[-2]


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Away]:
    """The REST service on a database that a stopped engine has left, with a resource of every type in it."""
    folder: Path = tmp_path_factory.mktemp("service")
    conf = configuration.load(
        [],
        {
            ("api", "auth_strategy"): "noauth",
            ("database", "connection"): f"sqlite:///{folder}/service.sqlite",
            ("service", "cloud"): "simulated",
            ("service", "site"): "engine-away",
            ("service", "state_path"): str(folder),
            ("service", "engine_timeout"): 5.0,
            ("enforcement", "max_lead_time"): -1,
            ("tenant_notifications", "enabled_drivers"): ["webhook"],
        },
    )
    wiring.default_transport(conf, "fake://")
    database = wiring.database(conf)
    migrate.upgrade(database)
    engine = wiring.engine_service(conf, "engine")
    engine.start()
    try:
        assert engine.leadership.is_leading.wait(_LIMIT)
        reader = SqlReader(database, conf.service.site)
        service = Away(rest.application(conf, wiring.engine_client(conf), reader, engine.clock))
        service.names = {
            "host_id": service.create("/v1/os-hosts", "host", {"name": "compute-1", "gpu": "yes"}),
            "property_name": "gpu",
            "lease_id": service.create("/v1/leases", "lease", _LEASE),
            "series_id": service.create("/v1/series", "series", {**_SERIES, "name": "some"}),
            "subscription_id": service.create("/v1/subscriptions", "subscription", _SUBSCRIPTION),
            "feed_id": service.create("/v1/feeds", "feed", {"name": "phone"}),
            "secret": service.secret(),
            "flow": "one",
            "peer": "one",
            "site": "north",
            "request_id": "6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42",
            "floatingip_id": service.create("/v1/floatingips", "floatingip", _ADDRESS),
        }
    finally:
        engine.stop()
    conf.set_default("engine_timeout", 1.0, group="service")
    service = _again(service, rest.application(conf, wiring.engine_client(conf), reader, engine.clock))
    yield service
    database.dispose()


def _again(service: Away, application: rest.Application) -> Away:
    result = Away(application)
    result.names = service.names
    return result


def _check_refusal(answer: TestResponse) -> None:
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["Retry-After"]) > 0
    body = answer.get_json()
    Draft202012Validator(error(MAXIMUM)).validate(body)
    assert body["error_code"] == 503
    assert "engine" in body["error_message"]


def test_changes_are_refused_for_the_time_being(away: Away) -> None:
    # Concurrently, because each of them waits for the engine's timeout.
    with ThreadPoolExecutor(len(_CHANGES)) as pool:
        answers = list(pool.map(away.ask, _CHANGES))
    for route, answer in zip(_CHANGES, answers, strict=True):
        assert answer.status_code == 503, (route.name, answer.text)
        _check_refusal(answer)


@pytest.mark.parametrize("route", _READS, ids=lambda route: str(route.name))
def test_what_there_is_can_be_read(away: Away, route: Route) -> None:
    answer = away.ask(route)
    assert answer.status_code == route.code, answer.text


def test_wrong_requests_are_refused_without_asking(away: Away) -> None:
    answer = away.send("POST", "/v1/leases", {**_LEASE, "name": 7})
    assert (answer.status_code, answer.get_json()["field"]) == (400, "name")
    answer = away.send("DELETE", "/v1/leases/nothing")
    assert answer.status_code == 404


def test_the_health_check_answers(away: Away) -> None:
    assert away.send("GET", "/healthcheck").status_code == 200
