"""Refusals say why in a word, for programs."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from lease_scheduler.model.refusals import RefusalReason
from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, date
from tests.servers.reservation import ReservationService

_HOUR = 3_600
_SETTINGS = """
[simulated_cloud]
hosts = 1
clock_start = 1800000000
[enforcement]
max_duration = 7200
"""


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 1)


def _body(count: int = 1, **terms: object) -> Document:
    nodes = [{"count": count, "resources": {"VCPU": 8}}]
    return {"name": "work", "kind": "immediate", "duration": _HOUR, "nodes": nodes, **terms}


def test_a_refusal_has_a_reason_for_programs(service: ReservationService) -> None:
    rest = Rest(service)
    made = rest.post("leases", _body(id=str(uuid4())))["lease"]
    start = rest.now() + 10 * _HOUR
    later = _body(2, kind="reservation", start_date=date(start), end_date=date(start + _HOUR))
    del later["duration"]
    red = [{"count": 1, "resources": {"VCPU": 1}, "properties": '["==", "$colour", "red"]'}]
    cases = [
        (_body(), 409, "capacity"),
        (_body(2), 409, "size"),
        (later, 409, "size"),
        (_body(duration=3 * _HOUR), 403, "limit"),
        (_body(id=made["id"], duration=1_800), 409, "id-taken"),
        (_body(nodes=red), 409, "traits"),
    ]
    for body, code, reason in cases:
        answer = rest.ask("POST", "leases", body)
        assert (answer.status_code, answer.json().get("reason_code")) == (code, reason), answer.text
    change = rest.ask("PUT", f"leases/{made['id']}", {"duration": 3 * _HOUR})
    assert (change.status_code, change.json()["reason_code"]) == (403, "limit")


def test_a_quote_has_it_too_and_is_null_if_granted(service: ReservationService) -> None:
    rest = Rest(service)
    for count, reason in ((1, None), (2, "size")):
        quote = rest.post("quotes", _body(count))["quote"]
        assert (quote["granted"], quote["reason_code"]) == (reason is None, reason)


def test_what_is_not_refused_but_wrong_has_none(service: ReservationService) -> None:
    rest = Rest(service)
    assert "reason_code" not in rest.ask("POST", "leases", _body(duration="soon")).json()
    assert "reason_code" not in rest.ask("GET", f"leases/{uuid4()}").json()


def test_earlier_microversions_do_not_have_it(service: ReservationService) -> None:
    rest = Rest(service, OpenStack_API_Version="reservation 1.42")
    body = _body(2)
    assert "reason_code" not in rest.ask("POST", "leases", body).json()
    assert "reason_code" not in rest.post("quotes", body)["quote"]


def test_the_page_explains_each_reason() -> None:
    page = Path(__file__).parents[3] / "doc" / "source" / "api" / "microversions.rst"
    section = page.read_text().partition("\n1.43\n")[2]
    explained = [
        line.removeprefix("   * - ").strip("`") for line in section.splitlines() if line.startswith("   * - ``")
    ]
    assert explained == ["reason_code", *(reason.value for reason in RefusalReason)]
