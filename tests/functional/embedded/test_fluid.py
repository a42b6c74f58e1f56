"""Fluid leases as users and operators see them, and what a killed engine leaves (issue 22, point 3)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import requests

from tests.compat.inside import InsideShell
from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, until
from tests.servers.reservation import ReservationService

_SETTINGS = """
[simulated_cloud]
hosts = 1
clock_speed = 60
clock_start = 1800000000
[scheduling]
policy_fractional = max-min
"""

_NODES = [{"count": 1, "resources": {"VCPU": 8, "MEMORY_MB": 64}}]


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 1)


def _fluid(name: str, **terms: Any) -> Document:
    return {"name": name, "kind": "best-effort", "nodes": _NODES, "min_yield": 0.25, **terms}


def _shares(service: ReservationService) -> dict[str, float]:
    """Return what the cloud was told."""
    path = next(service.folder.rglob("simulated-cloud.sqlite"))
    with closing(sqlite3.connect(path)) as cloud:
        return dict(cloud.execute("SELECT lease_id, yield FROM shares").fetchall())


def _progress(service: ReservationService) -> list[tuple[str, int, int, int]]:
    """Return what the database has of the progress of leases."""
    query = "SELECT id, virtual_time, yield, yield_since FROM leases WHERE virtual_time IS NOT NULL ORDER BY id"
    with closing(sqlite3.connect(next(service.folder.rglob("lease-scheduler.sqlite")))) as database:
        return database.execute(query).fetchall()


def test_leases_share_a_host_and_go_on_when_the_engine_is_killed(service: ReservationService) -> None:
    """8 VCPU for two leases of 8: half for each, and a quarter while a reservation has booked 4."""
    rest = Rest(service)
    refused = {
        "kind": _fluid("no", kind="immediate", duration=60),
        "preemptible": _fluid("no", preemptible=False),
        "exclusive": _fluid("no", nodes=[{"count": 1, "exclusive": True, "resources": {"VCPU": 8}}]),
        "no VCPU": _fluid("no", nodes=[{"count": 1, "resources": {"MEMORY_MB": 64}}]),
        "too much": _fluid("no", min_yield=1.5),
        "nothing": _fluid("no", min_yield=0),
        "text": _fluid("no", min_yield="half"),
    }
    for what, body in refused.items():
        for path in ("leases", "quotes"):
            answer = rest.ask("POST", path, body)
            assert (answer.status_code, answer.json().get("field")) == (400, "min_yield"), (what, answer.text)
    elastic = _fluid("no", nodes=[{**_NODES[0], "least_resources": {"VCPU": 2}}])
    assert rest.ask("POST", "leases", elastic).status_code == 400

    quote = rest.ask("POST", "quotes", _fluid("first")).json()["quote"]
    assert quote["nodes"] == [{"count": 1, "resources": {"MEMORY_MB": 64, "VCPU": 2}}]
    made = [rest.post("leases", _fluid(name))["lease"] for name in ("first", "second")]
    ids = [lease["id"] for lease in made]

    def shown(number: int = 0) -> Document:
        found: Document = rest.get(f"leases/{ids[number]}")["lease"]
        return found

    until(lambda: [shown(number)["yield"] for number in (0, 1)] == [0.5, 0.5])
    until(lambda: _shares(service) == dict.fromkeys(ids, 0.5))
    booking = {"nodes": [{"count": 1, "resources": {"VCPU": 4}}], "start_date": "now", "duration": 50_000}
    booked = rest.post("leases", {"name": "booked", **booking})["lease"]
    until(lambda: rest.state(booked) == "active" and shown()["yield"] == 0.25)
    until(lambda: _shares(service) == dict.fromkeys(ids, 0.25))
    before = shown()
    assert before["virtual_time"] > 0
    assert before["stretch"] > 1
    assert before["reservations"][0]["granted_resources"] == {"MEMORY_MB": 64, "VCPU": 2}
    text = InsideShell(service).openstack("lease", "show", "first", "--share", "-f", "json").document
    assert (text["yield"], text["min_yield"]) == (0.25, 0.25)
    metrics = requests.get(f"{service.url}/metrics", timeout=30).text
    assert 'lease_scheduler_fluid_yield{statistic="least"} 0.25' in metrics
    assert "lease_scheduler_fluid_leases 2.0" in metrics

    written = _progress(service)
    service.kill()
    service.start()
    after = shown()
    assert after["yield"] == 0.25
    # The servers have gone on meanwhile, and so has their virtual time, from what was written.
    assert after["virtual_time"] > before["virtual_time"]
    assert _progress(service) == written
    rest.ask("DELETE", f"leases/{ids[1]}")
    until(lambda: shown()["yield"] == 0.5)
    until(lambda: _shares(service) == {ids[0]: 0.5})


def test_sites_without_them_say_so(make: Make) -> None:
    """Also in quotes. Other leases show that they are not fluid."""
    service = make(configuration=_SETTINGS.replace("max-min", "none"))
    service.start()
    rest = Rest(service)
    rest.register(1)
    for path in ("leases", "quotes"):
        answer = rest.ask("POST", path, _fluid("no"))
        said = answer.json()
        reason = said["quote"]["reason"] if path == "quotes" else said["error_message"]
        assert "min_yield: this site has no fluid leases; leave it out" in reason, answer.text
    whole = rest.lease("whole", "best-effort", duration=1_000)
    until(lambda: rest.state(whole) == "active")
    found = rest.get(f"leases/{whole['id']}")["lease"]
    assert [found[name] for name in ("min_yield", "yield", "virtual_time", "stretch")] == [None] * 4
