"""A program that follows a site by its events."""

from __future__ import annotations

import pytest

from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, until
from tests.servers.reservation import ReservationService


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, "[simulated_cloud]\nhosts = 2\n", 2)


def _reasons(events: list[Document], lease: Document) -> list[tuple[str, str]]:
    return [(event["from"], event["to"]) for event in events if event["lease_id"] == lease["id"]]


def test_a_program_that_was_away_misses_nothing(service: ReservationService) -> None:
    rest = Rest(service, X_Project_Id="physics", X_Roles="member,reader")
    before = rest.get("events?limit=0")["next"]
    lease = rest.lease("work", "immediate", duration=3_600)
    until(lambda: rest.state(lease) == "active")
    first = rest.get(f"events?since={before}&limit=1")
    assert first["more"]
    rest.ask("DELETE", f"leases/{lease['id']}")
    service.kill()
    service.start()
    found = first["events"]
    page = first
    while page["more"] or found[-1]["to"] != "cancelled":
        page = rest.get(f"events?since={page['next']}&limit=2")
        found += page["events"]
    history = rest.get(f"leases/{lease['id']}/history")
    assert _reasons(found, lease) == [(entry["from"], entry["to"]) for entry in history["history"]]


def test_projects_see_only_their_own(service: ReservationService) -> None:
    physics = Rest(service, X_Project_Id="physics", X_Roles="member,reader")
    biology = Rest(service, X_Project_Id="biology", X_Roles="member,reader")
    lease = physics.lease("work", "immediate", duration=3_600)
    assert {event["lease_id"] for event in physics.get("events")["events"]} == {lease["id"]}
    assert biology.get("events")["events"] == []
    assert biology.ask("GET", "events?all_projects=true").status_code == 403
    assert biology.ask("GET", "events?project_id=physics").status_code == 403
    seen = Rest(service).get("events?all_projects=true")["events"]
    assert {event["project_id"] for event in seen} == {"physics"}


@pytest.mark.parametrize("query", ["since=-1", "since=last", "limit=-1", "after=3"])
def test_a_wrong_query_is_refused_with_its_name(service: ReservationService, query: str) -> None:
    answer = Rest(service).ask("GET", f"events?{query}")
    assert (answer.status_code, answer.json()["field"]) == (400, query.partition("=")[0])
