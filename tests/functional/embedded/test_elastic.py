"""A lease of 2 to 8 VCPU gets what is free, and shows it, also after a restart (shirako F21, F71)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, date, until
from tests.servers.reservation import ReservationService

_SETTINGS = """
[simulated_cloud]
hosts = 1
clock_speed = 60
clock_start = 1800000000
"""


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 1)


def _body(name: str, resources: Document, least: Document | None = None, **terms: Any) -> Document:
    nodes: Document = {"count": 1, "resources": resources}
    if least is not None:
        nodes["least_resources"] = least
    return {"name": name, "nodes": [nodes], **terms}


def test_an_elastic_lease_gets_what_is_free(service: ReservationService) -> None:
    rest = Rest(service)
    start = rest.now() + 3_600
    times: Document = {"start_date": date(start), "end_date": date(start + 7_200)}
    rest.post("leases", _body("other", {"VCPU": 3}, **times))
    asked = _body("elastic", {"VCPU": 8, "MEMORY_MB": 64}, {"VCPU": 2}, **times)
    quote = rest.ask("POST", "quotes", asked).json()["quote"]
    assert quote["nodes"] == [{"count": 1, "resources": {"MEMORY_MB": 64, "VCPU": 5}}]
    made = rest.post("leases", asked)["lease"]
    queued = rest.post("leases", _body("queued", {"VCPU": 8}, {"VCPU": 4}, kind="best-effort", duration=60))["lease"]

    def reservation(lease: Document) -> Any:
        return rest.get(f"leases/{lease['id']}")["lease"]["reservations"][0]

    # It is over before the others start, so it gets everything.
    until(lambda: reservation(queued)["granted_resources"] == {"VCPU": 8})
    service.kill()
    service.start()
    shown = reservation(made)
    assert (shown["resources"], shown["least_resources"], shown["granted_resources"]) == (
        {"MEMORY_MB": 64, "VCPU": 8},
        {"VCPU": 2},
        {"MEMORY_MB": 64, "VCPU": 5},
    )
    refused = rest.ask("POST", "leases", _body("too-large", {"VCPU": 8}, {"VCPU": 2}, **times))
    assert refused.status_code == 409, refused.text
