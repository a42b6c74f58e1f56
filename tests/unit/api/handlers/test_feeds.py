"""Feeds: secret addresses at which calendar programs read the leases of a project."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from flask import Flask
from icalendar import Calendar
from werkzeug.test import TestResponse

from lease_scheduler.api.interfaces import RefusedError
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.documents import Document
from lease_scheduler.records.feeds import digest_of, new_secret
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import Site
from tests.unit.api.handlers.test_leases import HOSTS, made


def _make(client: Client, name: str = "phone") -> Document:
    answer = client.at("latest").post("/v1/feeds", {"name": name})
    assert answer.status_code == 201, answer.json
    assert answer.headers["Cache-Control"] == "no-store"
    feed: Document = (answer.json or {})["feed"]
    return feed


def _read(app: Flask, feed: Document, **headers: str) -> TestResponse:
    """Ask for an address as a calendar program does: without token and microversion."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return app.test_client().get(urlsplit(feed["url"]).path, headers=named)


def _names(answer: TestResponse) -> list[str]:
    assert answer.status_code == 200
    return [str(event["summary"]) for event in Calendar.from_ical(answer.data).walk("VEVENT")]


def test_the_address_shows_the_leases_of_its_project_only(app: Flask, member: Client) -> None:
    other = Client(app, roles="member", project="blue")
    made(member, HOSTS, name="ours")
    made(other, HOSTS, name="theirs")
    answer = _read(app, _make(member), Accept="text/calendar")
    assert answer.mimetype == "text/calendar"
    assert _names(answer) == ["ours"]
    assert b"blue" not in answer.data
    assert _names(_read(app, _make(other))) == ["theirs"]


def test_the_secret_is_shown_once_and_not_kept(member: Client, site: Site) -> None:
    feed = _make(member)
    secret = feed["url"].split("/")[-2]
    latest = member.at("latest")
    shown = latest.get(f"/v1/feeds/{feed['id']}")
    assert (shown.json or {})["feed"] == {key: value for key, value in feed.items() if key != "url"}
    assert secret not in shown.text + latest.get("/v1/feeds").text
    assert secret not in repr(site.calls), "the engine does not get it either"
    assert secret not in repr(site.feed_rows)
    (row,) = site.feed_rows.values()
    assert row["digest"] == digest_of(secret)


def test_secrets_are_long_and_different() -> None:
    found = {new_secret() for _ in range(100)}
    assert len(found) == 100
    # 43 characters of base64 have 256 bits.
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", secret) for secret in found)


@pytest.mark.parametrize("secret", ["", "x", "x" * 43, "x" * 2_000, "..", "%00", "%ff", "%E2%82%AC", "a%2Fb"])
def test_unknown_addresses_are_404(app: Flask, member: Client, secret: str) -> None:
    _make(member)
    assert _read(app, {"url": f"/v1/feeds/{secret}/leases.ics"}).status_code == 404


def test_a_withdrawn_address_answers_like_an_unknown_one(app: Flask, member: Client) -> None:
    feed, kept = _make(member), _make(member, "wall")
    assert member.at("latest").delete(f"/v1/feeds/{feed['id']}").status_code == 204
    withdrawn, unknown = _read(app, feed), _read(app, {"url": f"/v1/feeds/{new_secret()}/leases.ics"})
    assert (withdrawn.status_code, withdrawn.data) == (404, unknown.data)
    for answer in (withdrawn, unknown):
        del answer.headers["X-Openstack-Request-Id"]
    assert [*withdrawn.headers] == [*unknown.headers]
    assert _names(_read(app, kept)) == []


def test_what_has_not_changed_is_not_sent_again(app: Flask, member: Client, site: Site) -> None:
    lease = made(member, HOSTS, name="a")
    feed = _make(member)
    first = _read(app, feed)
    assert first.headers["Cache-Control"] == "private, no-cache"
    again = _read(app, feed, If_None_Match=first.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["Cache-Control"] == "private, no-cache"
    site.views[lease["id"]]["name"] = "b"
    changed = _read(app, feed, If_None_Match=first.headers["ETag"])
    assert _names(changed) == ["b"]
    assert changed.headers["ETag"] != first.headers["ETag"]


def test_an_error_does_not_write_the_secret_into_the_log(
    app: Flask, member: Client, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    feed = _make(member)

    def fail(filters: Document) -> None:
        raise RuntimeError("the reader is broken")

    monkeypatch.setattr(site, "leases", fail)
    answer = _read(app, feed)
    assert answer.status_code == 500
    assert "/v1/feeds/<secret>/leases.ics failed" in caplog.text
    assert feed["url"].split("/")[-2] not in caplog.text + answer.text


def test_a_refusal_of_the_engine_is_passed_on(member: Client, site: Site) -> None:
    site.refusal = RefusedError(403, "a project may have at most 10 feeds; delete one first")
    answer = member.at("latest").post("/v1/feeds", {"name": "phone"})
    assert (answer.status_code, (answer.json or {})["error_message"]) == (
        403,
        "a project may have at most 10 feeds; delete one first",
    )


def test_no_address_is_served_where_the_operator_allows_none(build: Build, app: Flask, member: Client) -> None:
    feed = _make(member)
    assert _read(app, feed).status_code == 200
    assert _read(build(ApiSettings(auth="noauth", feeds=False)), feed).status_code == 404


def test_only_administrators_see_feeds_of_other_projects(app: Flask, member: Client) -> None:
    ours, theirs = _make(member), _make(Client(app, roles="member", project="blue"))
    latest, admin = member.at("latest"), Client(app, "latest", "admin")
    assert [each["id"] for each in (latest.get("/v1/feeds").json or {})["feeds"]] == [ours["id"]]
    assert latest.get("/v1/feeds?all_projects=true").status_code == 403
    assert latest.get("/v1/feeds?project_id=blue").status_code == 403
    found = (admin.get("/v1/feeds?all_projects=true").json or {})["feeds"]
    assert [each["id"] for each in found] == [ours["id"], theirs["id"]]
    assert admin.delete(f"/v1/feeds/{theirs['id']}").status_code == 204


def test_the_feed_of_a_deleted_project_works_until_an_administrator_withdraws_it(app: Flask) -> None:
    """Nobody tells the service that Keystone has deleted a project, so its feed is not answered like no feed."""
    gone, admin = Client(app, roles="member", project="gone"), Client(app, "latest", "admin")
    lease, feed = made(gone, HOSTS, name="last"), _make(gone)
    assert _names(_read(app, feed)) == ["last"]
    assert admin.delete(f"/v1/leases/{lease['id']}").status_code == 204
    assert _names(_read(app, feed)) == []
    (found,) = (admin.get("/v1/feeds?all_projects=true").json or {})["feeds"]
    assert found["project_id"] == "gone"
    assert admin.delete(f"/v1/feeds/{found['id']}").status_code == 204
    assert _read(app, feed).status_code == 404
