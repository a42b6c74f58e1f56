"""Feeds of a running service: who can read them, and where their secrets are not."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from icalendar import Calendar

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import LIMIT, Document, Rest
from tests.servers.base import free_port
from tests.servers.reservation import ReservationService

_SETTINGS = """
[DEFAULT]
debug = true
[simulated_cloud]
hosts = 4
[enforcement]
max_lead_time = -1
[service]
max_feeds = 2
[metrics]
enabled = true
"""


def _member(service: ReservationService, project: str) -> Rest:
    return Rest(service, X_Project_Id=project, X_User_Id=f"user of {project}", X_Roles="member")


@pytest.fixture
def service(make: Make) -> ReservationService:
    running = make(["--fill-pool"], f"{_SETTINGS}api_port = {free_port()}\nengine_port = {free_port()}\n")
    running.start()
    return running


def _create(rest: Rest, name: str = "phone") -> Document:
    feed: Document = rest.post("feeds", {"name": name})["feed"]
    return feed


def _get(url: str, **headers: str) -> requests.Response:
    return requests.get(url, headers=headers, timeout=LIMIT)


def _events(answer: requests.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    return {str(event["summary"]): event for event in Calendar.from_ical(answer.content).walk("VEVENT")}


def test_feeds_outlive_the_service_until_they_are_withdrawn(service: ReservationService) -> None:
    red, blue = _member(service, "red"), _member(service, "blue")
    red.lease("ours", "reservation", start_date="2090-01-01 00:00", duration="1h")
    blue.lease("theirs", "reservation", start_date="2090-01-01 00:00", duration="1h")
    phone, wall, theirs = _create(red), _create(red, "wall"), _create(blue)
    refused = red.ask("POST", "feeds", {"name": "third"})
    assert (refused.status_code, "at most 2 feeds" in refused.text) == (403, True)
    assert sorted(_events(_get(phone["url"]))) == ["ours"]
    assert sorted(_events(_get(theirs["url"]))) == ["theirs"]
    assert red.ask("DELETE", f"feeds/{theirs['id']}").status_code == 403
    assert red.ask("DELETE", f"feeds/{wall['id']}").status_code == 204
    assert red.ask("DELETE", f"feeds/{wall['id']}").status_code == 404
    service.kill()
    service.start()
    first = _get(phone["url"])
    assert sorted(_events(first)) == ["ours"]
    assert _get(phone["url"], **{"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert _get(wall["url"]).status_code == 404
    red.lease("new", "reservation", start_date="2090-01-02 00:00", duration="1h")
    changed = _get(phone["url"], **{"If-None-Match": first.headers["ETag"]})
    assert sorted(_events(changed)) == ["new", "ours"]
    assert _create(red, "third")["name"] == "third", "a withdrawn feed does not count"


def test_secrets_are_in_no_log_no_metric_and_no_database(service: ReservationService) -> None:
    red = _member(service, "red")
    feed = _create(red)
    secret = feed["url"].split("/")[-2]
    never = "n" * len(secret)
    for headers in ({}, {"X-Auth-Token": "anything"}, {"Accept": "text/html"}, {"OpenStack-API-Version": "nonsense"}):
        _get(feed["url"], **headers)
        _get(feed["url"].replace(secret, never), **headers)
    metrics = _get(f"{service.url}/metrics").text
    assert 'route="/v1/feeds/<secret>/leases.ics"' in metrics
    files = [path for path in service.folder.rglob("*") if path.is_file()]
    assert any(feed["id"].encode() in path.read_bytes() for path in files), "the feed itself is in the database"
    for text in (metrics.encode(), *(path.read_bytes() for path in files)):
        assert secret.encode() not in text
        assert never.encode() not in text


def test_a_lease_beyond_all_dates_leaves_the_others_in_both_feeds(service: ReservationService) -> None:
    red = _member(service, "red")
    feed = _create(red)
    red.lease("near", "reservation", start_date="2090-01-01 00:00", duration="1h")
    red.lease("last", "reservation", start_date="9999-12-31T23:59:59Z", duration="1h")
    red.lease("later", "reservation", start_date="9999-12-31T23:59:59-14:00", duration="36500d")
    red.lease("long", "deadline", start_date="9999-12-31T00:00:00Z", deadline="9999-12-31T23:59:59-14:00", duration=60)
    for answer in (_get(feed["url"]), red.ask("GET", "leases.ics")):
        events = _events(answer)
        assert sorted(events) == ["last", "later", "long", "near"]
        assert all(event.decoded("dtstart") < event.decoded("dtend") for event in events.values())
