"""Offers of leases that could start at once, which outlive the service."""

from __future__ import annotations

import pytest

from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, date, until
from tests.servers.reservation import ReservationService

_HOUR = 3_600
_SETTINGS = """
[simulated_cloud]
hosts = 1
clock_start = 1800000000
clock_speed = 1
[service]
quote_lifetime = 120
"""


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 1)


def _body(kind: str, **terms: object) -> Document:
    return {"name": "work", "kind": kind, "nodes": [{"count": 1, "resources": {"VCPU": 8}}], **terms}


def test_an_immediate_lease_keeps_its_host_over_a_kill_until_it_is_accepted(service: ReservationService) -> None:
    rest = Rest(service)
    quote = rest.post("quotes", _body("immediate", duration=_HOUR, hold=True))["quote"]
    assert quote["granted"]
    assert rest.ask("POST", "leases", _body("immediate", duration=_HOUR)).status_code == 409
    service.kill()
    service.start()
    assert rest.ask("POST", "leases", _body("immediate", duration=_HOUR)).status_code == 409
    lease = rest.post(f"leases/{quote['lease_id']}/action", {"accept": {}})["lease"]
    until(lambda: rest.state(lease) == "active")
    shown = rest.get(f"leases/{lease['id']}")["lease"]
    assert shown["duration"] == _HOUR
    assert rest.post(f"leases/{lease['id']}/action", {"end": {}})["lease"]


def test_a_reservation_that_starts_at_once_is_accepted_late(service: ReservationService) -> None:
    rest = Rest(service)
    end = date(rest.now() + _HOUR)
    quote = rest.post("quotes", _body("reservation", start_date="now", end_date=end, hold=True))["quote"]
    assert quote["granted"], quote
    asked = rest.now()
    until(lambda: rest.now() > asked + 2)
    lease = rest.post(f"leases/{quote['lease_id']}/action", {"accept": {}})["lease"]
    until(lambda: rest.state(lease) == "active")
    shown = rest.get(f"leases/{lease['id']}")["lease"]
    assert shown["end_date"].startswith(end.rstrip("Z"))
    assert shown["start_date"] > quote["start"]
    assert shown["breaches"] == []


def test_a_best_effort_lease_is_queued_when_it_is_accepted(service: ReservationService) -> None:
    rest = Rest(service)
    quote = rest.post("quotes", _body("best-effort", duration=_HOUR, hold=True))["quote"]
    assert (quote["granted"], quote["hosts"]) == (True, [])
    service.kill()
    service.start()
    assert rest.get(f"leases/{quote['lease_id']}")["lease"]["state"] == "pending"
    lease = rest.post(f"leases/{quote['lease_id']}/action", {"accept": {}})["lease"]
    until(lambda: rest.state(lease) == "active")


def test_earlier_microversions_hold_no_such_leases(service: ReservationService) -> None:
    rest = Rest(service, OpenStack_API_Version="reservation 1.44")
    answer = rest.ask("POST", "quotes", _body("immediate", duration=_HOUR, hold=True))
    assert (answer.status_code, answer.json()["field"]) == (400, "hold")


_ACTIONS: tuple[Document, ...] = (
    {"extend": {"by": "1h"}},
    {"shrink": {"duration": "10m"}},
    {"move": {"hosts_away": ["compute-1"]}},
    {"move": {"start_date": "2090-01-01 08:00"}},
    {"ready": {}},
    {"counter": {"duration": 1_800}},
    {"counter": {"max_price": 1}},
    {"approve": {}},
    {"decline": {}},
)


@pytest.mark.parametrize("kind", ["immediate", "best-effort", "reservation"])
def test_nothing_that_a_tenant_asks_of_a_held_lease_breaks_the_engine(service: ReservationService, kind: str) -> None:
    rest = Rest(service)
    times: Document = {"duration": _HOUR}
    if kind == "reservation":
        times = {"start_date": "now", "end_date": date(rest.now() + _HOUR)}
    held = rest.post("quotes", _body(kind, hold=True, **times))["quote"]["lease_id"]
    asked: list[tuple[str, str, Document | None]] = [("POST", f"leases/{held}/action", each) for each in _ACTIONS]
    asked += [("POST", f"leases/{held}/quote", {"change": {"duration": 1_800}})]
    asked += [("PUT", f"leases/{held}", each) for each in ({"name": "other"}, {"duration": 1_800})]
    asked += [("GET", f"leases/{held}/{part}", None) for part in ("history", "hosts", "names")]
    asked += [("GET", "leases", None), ("GET", "availability?start=now&duration=1h&vcpus=8&count=1", None)]
    asked += [("GET", "leases.ics", None), ("GET", "calendar", None), ("GET", "flows?all_projects=true", None)]
    answers = [(words, rest.ask(*words).status_code) for words in asked]
    assert [each for each in answers if each[1] >= 500] == []
    leading = [line for line in service.log.read_text().splitlines() if "this engine leads" in line]
    assert len(leading) == 1, "the engine was rebuilt"
    assert rest.ask("DELETE", f"leases/{held}").status_code == 204
    # The host is free again.
    assert rest.post("leases", _body("immediate", duration=_HOUR))["lease"]["status"] in ("STARTING", "ACTIVE")
