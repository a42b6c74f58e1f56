"""Requests with a chosen id can be sent again: for leases (issue 17), and for quotes that are held."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site, Trusts
from tests.unit.api.handlers.test_lease_kinds import lease
from tests.unit.api.handlers.test_leases import DATES

_ADA: dict[str, Any] = {"environ_overrides": {"keystone.token_auth": "ada"}}
_BODY = lease(**DATES, id="6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42", servers=[{"name": "web", "image_id": "cirros"}])


def test_a_retry_gives_no_trust(member: Client, trusts: Trusts) -> None:
    client = member.at("1.18")
    for _ in range(2):
        made = client.post("/v1/leases", _BODY, **_ADA)
        assert (made.status_code, (made.json or {})["lease"]["trust_id"]) == (201, "trust-0-of-ada")
    assert trusts.given == ["trust-0-of-ada"]


def test_of_two_concurrent_requests_one_trust_stays(
    member: Client, site: Site, trusts: Trusts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other request creates the lease after this one has found that there is none."""

    def made_meanwhile(context: Document, asked: Document) -> Document:
        site.views[asked["id"]] = {**site.view_of(asked), "trust_id": "of-the-other"}
        return {"lease_id": asked["id"]}

    monkeypatch.setattr(site, "create_lease", made_meanwhile)
    made = member.at("1.18").post("/v1/leases", _BODY, **_ADA)
    assert (made.status_code, (made.json or {})["lease"]["trust_id"]) == (201, "of-the-other")
    assert trusts.given == []


def test_a_refusal_of_the_engine_deletes_the_trust(member: Client, site: Site, trusts: Trusts) -> None:
    site.refusal = RefusedError(409, "id: is taken", "id")
    assert member.at("1.18").post("/v1/leases", _BODY, **_ADA).status_code == 409
    assert trusts.given == []


_PLAIN = {**lease(**DATES), "id": "6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42"}


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ({}, {"id": _PLAIN["id"].upper()}),
        ({}, {"start_date": "2030-02-01T01:00:00+01:00"}),
        ({"end_date": None, "duration": "1h"}, {"end_date": None, "duration": "60m"}),
        ({"end_date": None, "duration": 3_600}, {"end_date": None, "duration": "PT1H"}),
        ({"before_end_date": "2030-02-01 12:00"}, {"before_end_date": "2030-02-01T12:00:00Z"}),
    ],
)
def test_a_retry_that_means_the_same_is_the_same_request(
    member: Client, site: Site, first: dict[str, Any], again: dict[str, Any]
) -> None:
    client = member.at("1.18")
    bodies = [
        {key: value for key, value in {**_PLAIN, **first, **more}.items() if value is not None}
        for more in ({}, again, again)
    ]
    answers = [client.post("/v1/leases", sent) for sent in bodies]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert {(answer.json or {})["lease"]["id"] for answer in answers} == {_PLAIN["id"]}
    assert len(site.calls) == 1


def test_a_retry_that_means_something_else_is_refused(member: Client) -> None:
    client = member.at("1.18")
    assert client.post("/v1/leases", _PLAIN).status_code == 201
    for change in ({"start_date": "2030-02-01T00:00:01Z"}, {"name": "other"}, {"preemptible": True}):
        assert client.post("/v1/leases", {**_PLAIN, **change}).status_code == 409


_HELD = {**_BODY, "hold": True}


def test_a_held_quote_has_the_id_and_the_expiry_of_the_request(member: Client, site: Site) -> None:
    body = {**_PLAIN, "hold": True, "expires_at": "2030-01-31T12:03:00Z"}
    quote = (member.at("1.47").post("/v1/quotes", body).json or {})["quote"]
    assert quote["lease_id"] == _PLAIN["id"]
    (_, _, asked) = site.calls[-1]
    assert (asked["id"], asked["expires_at"] - site.clock.now()) == (_PLAIN["id"], 150)
    assert asked["request_digest"] is not None


@pytest.mark.parametrize(
    ("change", "version", "field"),
    [
        ({}, "1.46", "id"),
        ({"hold": False}, "1.47", "id"),
        ({"id": None, "hold": False, "expires_at": "2030-01-31T12:03:00Z"}, "1.47", "expires_at"),
        ({"counter_offers": 1}, "1.47", "id"),
        ({"expires_at": "soon"}, "1.47", "expires_at"),
        ({"id": "7"}, "1.47", "id"),
    ],
)
def test_what_a_held_quote_does_not_take(
    member: Client, site: Site, change: dict[str, Any], version: str, field: str
) -> None:
    body = {key: value for key, value in {**_HELD, **change}.items() if value is not None}
    answer = member.at(version).post("/v1/quotes", body)
    assert (answer.status_code, (answer.json or {})["field"]) == (400, field)
    assert site.calls == []


def test_a_repeated_hold_leaves_no_second_trust(
    member: Client, site: Site, trusts: Trusts, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = member.at("1.47")
    assert client.post("/v1/quotes", _HELD, **_ADA).status_code == 200
    (trust,) = trusts.given
    first = dict(site.views[_HELD["id"]])

    def held_before(context: Document, asked: Document) -> Document:
        site.views[asked["id"]] = first
        return {**site.quote, "lease_id": asked["id"], "expires_at": first["offered_until"]}

    monkeypatch.setattr(site, "offer_lease", held_before)
    assert client.post("/v1/quotes", _HELD, **_ADA).status_code == 200
    assert trusts.given == [trust]


def test_a_request_is_given_up_by_its_id(member: Client, site: Site) -> None:
    assert member.at("1.48").put(f"/v1/withdrawals/{_PLAIN['id'].upper()}", None).status_code == 204
    ((name, context, asked),) = site.calls
    assert (name, context["project_id"], asked) == ("withdraw_request", "red", _PLAIN["id"])
    answer = member.at("1.48").put("/v1/withdrawals/7", None)
    assert (answer.status_code, (answer.json or {})["field"]) == (400, "request_id")
    assert len(site.calls) == 1
