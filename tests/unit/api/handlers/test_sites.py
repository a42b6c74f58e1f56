"""The sites behind a gateway."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.settings import ApiSettings
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import NOW, Site, Sites
from tests.unit.api.handlers.test_leases import DATES

_LEASE = {"name": "a", **DATES, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}


@pytest.fixture
def gateway(build: Build) -> Flask:
    return build(ApiSettings(auth="noauth"), Sites())


def _lease_at(site: Site, lease_id: str, name: str, project: str) -> None:
    site.views[lease_id] = {"id": lease_id, "site": name, "project_id": project}


def test_administrators_see_the_sites_with_what_they_publish(gateway: Flask, site: Site) -> None:
    _lease_at(site, "1", "north", "red")
    _lease_at(site, "2", "north", "blue")
    north, south = (Client(gateway, "1.51", "admin").get("/v1/sites").json or {})["sites"]
    assert (north["name"], north["state"], north["leases"]) == ("north", "answering", 2)
    assert north["last_answer_at"] == iso_date(NOW)
    assert (north["capacity"], north["speed"], north["load"]["local"]["rate"]) == ({"VCPU": 16}, 1.5, 0.5)
    assert (south["state"], south["unreachable_since"], south["verbs"]) == ("paused", iso_date(NOW - 60), None)


def test_tenants_see_neither_capacity_nor_load_and_count_their_own_leases(build: Build, site: Site) -> None:
    app = build(ApiSettings(auth="noauth", privacy=True), Sites())
    _lease_at(site, "1", "north", "red")
    _lease_at(site, "2", "north", "blue")
    north = (Client(app, "1.51", "member").get("/v1/sites/north").json or {})["site"]
    assert (north["leases"], north["capacity"], north["load"]) == (1, None, None)
    assert north["verbs"] == ["quote", "submit"]


def test_a_site_that_is_not_there_is_not_found(gateway: Flask) -> None:
    answer = Client(gateway, "1.51", "member").get("/v1/sites/east")
    assert answer.status_code == 404
    assert "east" in (answer.json or {})["error_message"]


def test_a_service_that_is_no_gateway_has_no_sites(member: Client) -> None:
    assert (member.at("1.51").get("/v1/sites").json or {})["sites"] == []
    assert member.at("1.51").get("/v1/sites/north").status_code == 404
    assert member.at("1.49").get("/v1/sites").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/leases", {**_LEASE, "site": "north"}),
        ("POST", "/v1/quotes", {**_LEASE, "site": "north"}),
        ("GET", "/v1/leases?site=north", None),
    ],
)
def test_a_service_that_is_no_gateway_refuses_the_name_of_a_site(
    member: Client, method: str, path: str, body: Any
) -> None:
    answer = member.at("1.51").send(method, path, body)
    said = answer.json or {}
    assert (answer.status_code, said["field"]) == (400, "site")
    assert said["error_message"].startswith("site: this service is no gateway")
    earlier = member.at("1.49").send(method, path, body)
    assert "needs the header OpenStack-API-Version: reservation 1.51" in (earlier.json or {})["error_message"]


def test_the_site_that_a_request_names_reaches_the_engine(gateway: Flask, site: Site) -> None:
    client = Client(gateway, "1.51", "member")
    assert client.post("/v1/leases", {**_LEASE, "site": "south"}).status_code == 201
    (asked,) = [call for call in site.calls if call[0] == "create_lease"]
    assert asked[-1]["wanted_site"] == "south"
