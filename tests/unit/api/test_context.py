"""The caller of a request."""

from __future__ import annotations

import pytest
from flask import Flask

from lease_scheduler.api.settings import ApiSettings
from tests.unit.api.conftest import Build
from tests.unit.api.fakes import Site
from tests.unit.api.handlers.test_leases import DATES

LEASE = {"name": "a", **DATES}
CONFIRMED = {
    "X-Identity-Status": "Confirmed",
    "X-User-Id": "u",
    "X-Project-Id": "p",
    "X-Roles": "Member,_member_",
}


def test_without_authentication_and_headers_the_caller_is_an_administrator(app: Flask, site: Site) -> None:
    assert app.test_client().post("/v1/leases", json=LEASE).status_code == 201
    context = site.calls[0][1]
    assert (context["user_id"], context["project_id"], context["is_admin"]) == ("admin", "admin", True)
    assert context["roles"] == ["admin", "manager", "member", "reader"]


def test_an_empty_list_of_roles_gives_no_permission(app: Flask) -> None:
    assert app.test_client().get("/v1/leases", headers={"X-Roles": ""}).status_code == 403


@pytest.mark.parametrize("value", ["", "a\tb", "\x7f", "x" * 256])
def test_an_invalid_project_id_is_refused(app: Flask, value: str) -> None:
    answer = app.test_client().get("/v1/leases", headers={"X-Project-Id": value})
    assert (answer.status_code, (answer.json or {})["error_message"].split(":")[0]) == (400, "X-Project-Id")


class TestKeystone:
    @pytest.fixture
    def app(self, build: Build) -> Flask:
        return build(ApiSettings(auth="keystone"))

    def test_the_caller_is_the_one_that_the_middleware_confirmed(self, app: Flask, site: Site) -> None:
        assert app.test_client().post("/v1/leases", json=LEASE, headers=CONFIRMED).status_code == 201
        context = site.calls[0][1]
        assert (context["user_id"], context["project_id"], context["is_admin"]) == ("u", "p", False)
        assert context["roles"] == ["_member_", "member", "reader"]

    @pytest.mark.parametrize("without", ["X-Identity-Status", "X-User-Id", "X-Project-Id"])
    def test_unconfirmed_headers_are_refused(self, app: Flask, without: str) -> None:
        headers = {key: value for key, value in CONFIRMED.items() if key != without}
        assert app.test_client().get("/v1/leases", headers=headers).status_code == 401

    def test_an_invalid_token_is_refused(self, app: Flask) -> None:
        headers = CONFIRMED | {"X-Identity-Status": "Invalid"}
        assert app.test_client().get("/v1/leases", headers=headers).status_code == 401


class TestPeers:
    """The role of peers is ``Peer``; the identity service writes roles in any case."""

    SETTINGS = ApiSettings(auth="keystone", peer_role="Peer")
    NAMED = CONFIRMED | {"X-User-Name": "northern-site"}

    @pytest.mark.parametrize(
        ("settings", "roles", "origin"),
        [
            (SETTINGS, "member,peer", "northern-site"),
            (SETTINGS, "Member,PEER", "northern-site"),
            (SETTINGS, "member", None),
            (SETTINGS, "admin", None),
            # A role that another one implies is not the role of peers.
            (ApiSettings(auth="keystone", peer_role="member"), "manager", None),
            (ApiSettings(auth="keystone"), "member,peer", None),
            # Nothing confirms these headers.
            (ApiSettings(auth="noauth", peer_role="Peer"), "member,peer", None),
        ],
    )
    def test_only_requests_of_peers_have_an_origin(
        self, build: Build, site: Site, settings: ApiSettings, roles: str, origin: str | None
    ) -> None:
        headers = self.NAMED | {"X-Roles": roles}
        assert build(settings).test_client().post("/v1/leases", json=LEASE, headers=headers).status_code == 201
        assert site.calls[0][2]["origin"] == origin

    @pytest.mark.parametrize("name", [None, "", "n\xf6rdlich", "x" * 256])
    def test_a_peer_without_a_usable_name_is_refused(self, build: Build, site: Site, name: str | None) -> None:
        """It would count as local otherwise."""
        headers = CONFIRMED | {"X-Roles": "member,peer"} | ({} if name is None else {"X-User-Name": name})
        answer = build(self.SETTINGS).test_client().post("/v1/leases", json=LEASE, headers=headers)
        assert (answer.status_code, (answer.json or {})["error_message"].split(":")[0]) == (400, "X-User-Name")
        assert site.calls == []

    def test_user_names_of_others_are_not_checked(self, build: Build) -> None:
        headers = CONFIRMED | {"X-User-Name": "n\xf6rdlich"}
        assert build(self.SETTINGS).test_client().get("/v1/leases", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("req-5cd661ee-9b63-48f7-974b-52811e48cfcc", True),
        ("req-short", False),
        ("req-5cd661ee-9b63-48f7-974b-52811e48cfcc<script>", False),
    ],
)
def test_the_request_id_is_accepted_and_returned(app: Flask, given: str, kept: bool) -> None:
    answer = app.test_client().get("/v1/leases", headers={"X-Openstack-Request-Id": given})
    assert (answer.headers["X-Openstack-Request-Id"] == given) is kept
