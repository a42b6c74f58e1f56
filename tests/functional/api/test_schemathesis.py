"""The running service answers as its description says, whatever the request.

``LEASE_SCHEDULER_EXAMPLES`` sets how many requests of each operation are tried, for a longer search.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lease_scheduler.api.microversions import MAXIMUM, MINIMUM, Version
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from tests.servers.reservation import ReservationService

_EXAMPLES = int(os.environ.get("LEASE_SCHEDULER_EXAMPLES", "30"))
_HEADERS = {"X-Auth-Token": "anything", "OpenStack-API-Version": "reservation latest"}
_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

_SETTINGS = """
[simulated_cloud]
hosts = 4
[tenant_notifications]
enabled_drivers = webhook
# Nothing may be sent from the tests to addresses that somebody has invented.
webhook_allowed_urls = https://hooks.invalid
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReservationService]:
    """The service with four hosts in its pool and a lease."""
    folder: Path = tmp_path_factory.mktemp("service")
    running = ReservationService(folder, configuration=_SETTINGS)
    try:
        running.start()
        for number in range(1, 5):
            _post(running, "os-hosts", {"name": f"compute-{number}"})
        nodes = [{"count": 1, "resources": {"VCPU": 1}}]
        _post(running, "leases", {"name": "one", "kind": "best-effort", "duration": "1h", "nodes": nodes})
        yield running
    finally:
        running.kill()


def _post(service: ReservationService, path: str, body: dict[str, Any]) -> None:
    answer = requests.post(f"{service.url}/v1/{path}", json=body, headers=_HEADERS, timeout=60)
    assert answer.status_code == 201, answer.text


def _named(value: Route | Version) -> str:
    return value.name if isinstance(value, Route) else str(value)


#: Every route at the newest microversion, and at the oldest one that has it.
_CASES = [(route, MAXIMUM) for route in ROUTES] + [(route, MINIMUM) for route in ROUTES if route.since == MINIMUM]


@pytest.mark.parametrize(("route", "version"), _CASES, ids=_named)
def test_answers_are_as_described(service: ReservationService, route: Route, version: Version) -> None:
    headers = _HEADERS | {"OpenStack-API-Version": f"reservation {version}"}
    interface = schemathesis.openapi.from_url(f"{service.url}/v1/openapi.json", headers=headers)

    @settings(max_examples=_EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(interface[route.path][route.method].as_strategy())
    def answers(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(headers=headers, checks=_CHECKS)

    answers()
