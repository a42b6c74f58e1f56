"""A lease that has to make room before its work is done: its end is not the instant at which it is suspended."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import requests
from icalendar import Calendar

from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import HEADERS, Document, Rest, date, until
from tests.servers.reservation import ReservationService

_HOUR = 3_600

_SETTINGS = """
[simulated_cloud]
hosts = 1
clock_speed = 1
clock_start = 1800000000
"""


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 1)


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def _body(**terms: object) -> Document:
    return {"name": "work", "nodes": [{"count": 1, "resources": {"VCPU": 8}}], **terms}


def test_the_end_is_not_the_next_suspension(service: ReservationService) -> None:
    """Three hours of work before a reservation that begins in about 39 minutes, and lasts for an hour."""
    rest = Rest(service)
    start = rest.now() + 39 * 60
    rest.lease("course", "reservation", start_date=date(start), end_date=date(start + _HOUR))
    body = _body(kind="best-effort", duration=3 * _HOUR)

    quote = rest.post("quotes", body)["quote"]
    work = rest.post("leases", body)["lease"]
    # The end is known to the second when its VMs run: it moves with every second by which they start late.
    until(lambda: rest.state(work) == "active")
    shown = rest.get(f"leases/{work['id']}")["lease"]

    for said in (quote, shown):
        assert _instant(said["preempted_at"]) <= start
        assert said["latest_end"] is None
    began, cut = _instant(shown["start_date"]), _instant(shown["preempted_at"])
    end = _instant(shown["end_date"])
    # What is left of the work follows the suspension, which ends by the start of the reservation.
    assert cut + 3 * _HOUR - (cut - began) <= end <= start + 3 * _HOUR - (cut - began)
    # It ends later than quoted by as much as it began later.
    assert abs((end - began) - (_instant(quote["end"]) - _instant(quote["start"]))) <= 1

    headers = HEADERS | {"OpenStack-API-Version": "reservation 1.0"}
    old = requests.get(f"{service.url}/v1/leases/{work['id']}", headers=headers, timeout=60).json()["lease"]
    assert _instant(old["end_date"]) == end // 60 * 60 or _instant(old["end_date"]) == end
    assert "preempted_at" not in old
    feed = Calendar.from_ical(rest.ask("GET", "leases.ics").text)
    (event,) = [each for each in feed.walk("VEVENT") if str(each["SUMMARY"]) == "work"]
    assert event.decoded("dtend") == datetime.fromtimestamp(end, UTC)
    assert f"it is preempted at {shown['preempted_at']}" in str(event["DESCRIPTION"])


def test_a_deadline_lease_that_runs_in_two_parts(service: ReservationService) -> None:
    """Its second part is planned as well, so its end is known."""
    rest = Rest(service)
    now = rest.now()
    rest.lease("course", "reservation", start_date=date(now + 1_800), end_date=date(now + _HOUR))
    terms = {"start_date": date(now + 60), "deadline": date(now + 4 * _HOUR), "duration": 2 * _HOUR}
    quote = rest.post("quotes", _body(kind="deadline", **terms))["quote"]
    assert quote["granted"]
    assert quote["latest_end"] == quote["end"]
    assert quote["preempted_at"] is None or quote["preempted_at"] < quote["end"]


def test_a_lease_that_is_not_interrupted(service: ReservationService) -> None:
    rest = Rest(service)
    work = rest.post("leases", _body(kind="best-effort", duration=_HOUR))["lease"]
    shown = rest.get(f"leases/{work['id']}")["lease"]
    assert (shown["preempted_at"], _instant(shown["latest_end"])) == (None, _instant(shown["end_date"]))
