"""A best-effort lease of min to max hosts takes those that are free at its turn, also after a restart (shirako F12)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, until
from tests.servers.reservation import ReservationService

_SETTINGS = """
[scheduling]
backfilling = off

[simulated_cloud]
hosts = 6
clock_speed = 1
clock_start = 1800000000

[enforcement]
enabled_filters = QuotaFilter
limit_node_hours = 135
"""


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 6)


def _lease(name: str, fewest: int, most: int, kind: str = "best-effort") -> Document:
    hosts = {
        "resource_type": "physical:host",
        "min": fewest,
        "max": most,
        "hypervisor_properties": "",
        "resource_properties": "",
    }
    return {"name": name, "reservations": [hosts], "kind": kind, "duration": 36_000}


def _numbers(rest: Rest, lease_id: str) -> tuple[Any, ...]:
    """Return what a lease asked for, what it has, and on how many hosts."""
    lease = rest.get(f"leases/{lease_id}")["lease"]
    (shown,) = lease["reservations"]
    hosts = {host for holding in lease["holdings"] for host in holding["hosts"]}
    return shown["min"], shown["max"], shown["granted_nodes"], len(hosts)


def _on_calendar(rest: Rest, lease_id: str) -> tuple[int, list[int]]:
    (lease,) = [each for each in rest.calendar()["leases"] if each["id"] == lease_id]
    return lease["nodes"], lease["node_range"]


def test_a_lease_takes_what_is_free_at_its_turn(service: ReservationService) -> None:
    rest = Rest(service)
    other, first, second = _lease("other", 2, 2, "immediate"), _lease("first", 2, 8), _lease("second", 2, 3)
    others = rest.post("leases", other)["lease"]["id"]
    assert rest.ask("POST", "quotes", first).json()["quote"]["nodes"][0]["count"] == 4
    running, waiting = (str(rest.post("leases", each)["lease"]["id"]) for each in (first, second))
    assert _numbers(rest, running) == (2, 8, 4, 4)
    assert _numbers(rest, waiting) == (2, 3, None, 0)
    assert _on_calendar(rest, waiting) == (2, [2, 3])
    refused = rest.ask("POST", "leases", _lease("third", 1, 8))
    assert "Quota exceeded for node_hours: limit 135, used 130, requested 80" in refused.text

    service.kill()
    service.start()
    assert _numbers(rest, running) == (2, 8, 4, 4)
    assert _numbers(rest, waiting) == (2, 3, None, 0)
    rest.post(f"leases/{others}/action", {"end": {}})
    until(lambda: _numbers(rest, waiting) == (2, 3, 2, 2))
    assert _on_calendar(rest, waiting) == (2, [2, 3])
