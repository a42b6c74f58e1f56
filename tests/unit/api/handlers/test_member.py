"""What the site is for gateways and other sites, and what their requests say of where they come from."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from lease_scheduler.api.settings import ApiSettings
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import Site

_PEER = {"X-Identity-Status": "Confirmed", "X-User-Name": "northern-site", "X-Roles": "member,peer"}
_LOCAL = {**_PEER, "X-Roles": "member"}
_ADMIN = {**_PEER, "X-Roles": "admin"}
_BODY = {"name": "a", "kind": "best-effort", "duration": 60, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}
_BEHALF = {"project": "physics", "user": "ada"}
_PASSED_ON = {"path": ["east", "west"], "on_behalf_of": _BEHALF}


@pytest.fixture
def client(build: Build) -> Client:
    """A client of the site ``here``, whose requests may have been passed on twice."""
    settings = ApiSettings(auth="keystone", peer_role="peer", site="here", most_passes=2, speed=1.5)
    return Client(build(settings), "1.48")


def _refused(answer: TestResponse) -> tuple[int, str, str | None]:
    body = answer.json or {}
    return answer.status_code, body["field"], body.get("reason_code")


@pytest.mark.parametrize("path", ["/v1/leases", "/v1/quotes"])
def test_a_peer_says_for_whom_it_asks_and_who_passed_it_on(client: Client, site: Site, path: str) -> None:
    assert client.post(path, {**_BODY, **_PASSED_ON}, headers=_PEER).status_code < 300
    asked = site.calls[-1][2]
    assert (asked["origin"], asked["path"], asked["on_behalf_of"]) == ("northern-site", ["east", "west"], _BEHALF)


def test_a_lease_shows_what_its_peer_said(client: Client) -> None:
    lease = (client.post("/v1/leases", {**_BODY, **_PASSED_ON}, headers=_PEER).json or {})["lease"]
    assert {key: lease[key] for key in _PASSED_ON} == _PASSED_ON
    lease = (client.post("/v1/leases", _BODY, headers=_PEER).json or {})["lease"]
    assert {key: lease[key] for key in _PASSED_ON} == {"path": None, "on_behalf_of": None}
    older = (client.at("1.47").get(f"/v1/leases/{lease['id']}", headers=_PEER).json or {})["lease"]
    assert not older.keys() & _PASSED_ON.keys()


@pytest.mark.parametrize("said", [{key: value} for key, value in _PASSED_ON.items()])
@pytest.mark.parametrize("path", ["/v1/leases", "/v1/quotes"])
def test_nobody_else_may_say_so(client: Client, site: Site, path: str, said: dict[str, Any]) -> None:
    for headers in (_LOCAL, _ADMIN):
        answer = client.post(path, {**_BODY, **said}, headers=headers)
        assert _refused(answer) == (403, *said, None)
    assert site.calls == []


@pytest.mark.parametrize(
    ("passed", "reason"), [(["east", "here"], "loop"), (["here"], "loop"), (["a", "b", "c"], "depth")]
)
def test_what_has_passed_here_or_was_passed_on_too_often_is_refused(
    client: Client, site: Site, passed: list[str], reason: str
) -> None:
    for path in ("/v1/leases", "/v1/quotes"):
        assert _refused(client.post(path, {**_BODY, "path": passed}, headers=_PEER)) == (409, "path", reason)
    assert site.calls == []


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"path": "east"}, "path"),
        ({"path": ["east", "east"]}, "path"),
        ({"path": [""]}, "path[0]"),
        ({"path": [str(number) for number in range(33)]}, "path"),
        ({"on_behalf_of": {"user": "ada"}}, "on_behalf_of.project"),
        ({"on_behalf_of": {**_BEHALF, "origin": "south"}}, "on_behalf_of.origin"),
        ({"on_behalf_of": "physics"}, "on_behalf_of"),
    ],
)
def test_a_malformed_key_is_named(client: Client, said: dict[str, Any], field: str) -> None:
    assert _refused(client.post("/v1/leases", {**_BODY, **said}, headers=_PEER)) == (400, field, None)


def test_older_microversions_do_not_know_the_keys(client: Client) -> None:
    for key, value in _PASSED_ON.items():
        assert _refused(client.at("1.47").post("/v1/leases", {**_BODY, key: value}, headers=_PEER))[:2] == (400, key)


def test_peers_and_administrators_see_capacity_and_load(client: Client, site: Site) -> None:
    for number in (1, 2):
        site.add_host(f"host-{number}")
        site.host_rows[str(number)]["capacity"] = {"VCPU": 8, "MEMORY_MB": 1_024}
    site.known_arrivals = {
        "local": {
            "number": 2,
            "latest": site.clock.now(),
            "gap": 4.0,
            "work": {"VCPU": 8.0},
            "squares": {"VCPU": 64.0},
        },
        "external": {"written by": "another version"},
    }
    local = {"rate": 0.25, "work": {"VCPU": 8.0}, "squares": {"VCPU": 64.0}}
    for headers, origin in ((_PEER, "northern-site"), (_ADMIN, None)):
        found = (client.get("/v1/member", headers=headers).json or {})["member"]
        assert (found["name"], found["origin"], found["speed"]) == ("here", origin, 1.5)
        assert found["capacity"] == {"HOST_SHARE": 2_000_000, "VCPU": 16, "MEMORY_MB": 2_048}
        assert found["load"] == {"local": local, "external": []}
    found = (client.get("/v1/member", headers=_LOCAL).json or {})["member"]
    assert (found["origin"], found["capacity"], found["load"]) == (None, None, None)
    assert "hold" in found["verbs"]


def test_hosts_that_are_out_of_service_have_no_capacity(client: Client, site: Site) -> None:
    for name, change in (("host-1", {"out_until": site.clock.now() + 60}), ("host-2", {"reservable": False})):
        site.host_rows[site.add_host(name)].update({"capacity": {"VCPU": 8}, **change})
    assert (client.get("/v1/member", headers=_PEER).json or {})["member"]["capacity"] == {}


def test_nobody_is_a_peer_where_nobody_is_authenticated(app: Flask) -> None:
    member = Client(app, "1.48", "member,peer")
    assert (member.get("/v1/member").json or {})["member"]["origin"] is None
