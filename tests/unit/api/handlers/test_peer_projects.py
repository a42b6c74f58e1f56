"""Leases that peers request for projects of the site: who may request, show, change and end them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from flask import Flask

from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.pools import PoolRule
from lease_scheduler.model.refusals import RefusalReason
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import Site

_BODY = {"name": "a", "kind": "best-effort", "duration": 60, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}
_FOR_RED = {"on_behalf_of": {"project": "physics", "user": "ada", "project_id": "red"}}
_FIELD = "on_behalf_of.project_id"
_GATEWAYS = "gateways"


def _headers(name: str, roles: str, project: str) -> dict[str, str]:
    return {
        "X-Identity-Status": "Confirmed",
        "X-User-Name": name,
        "X-User-Id": f"id of {name}",
        "X-Roles": roles,
        "X-Project-Id": project,
    }


_PEER = _headers("north", "member,peer", _GATEWAYS)
_OTHER_PEER = _headers("south", "member,peer", _GATEWAYS)
#: A user of the gateways' project, and one with the name of a peer, without the role.
_COLLEAGUE = _headers("colleague", "member", _GATEWAYS)
_NAMESAKE = _headers("north", "member", "blue")
_TENANT = _headers("ada", "member", "red")
_STRANGER = _headers("bob", "member", "blue")


@pytest.fixture
def keystone_app(build: Build) -> Flask:
    return build(ApiSettings(auth="keystone", peer_role="peer", site="here"))


@pytest.fixture
def client(keystone_app: Flask) -> Client:
    return Client(keystone_app, "1.50")


def _made(client: Client, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/leases", {**_BODY, **_FOR_RED, **more}, headers=_PEER)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = (answer.json or {})["lease"]
    return made


@pytest.mark.parametrize(("path", "call"), [("/v1/leases", "create_lease"), ("/v1/quotes", "quote_lease")])
def test_a_lease_for_a_project_belongs_to_it(client: Client, site: Site, path: str, call: str) -> None:
    assert client.post(path, {**_BODY, **_FOR_RED}, headers=_PEER).status_code < 300
    (checked, _, *arguments), (name, context, lease) = site.calls
    assert (checked, arguments, name) == ("check_project", ["north", "red"], call)
    assert (lease["project_id"], lease["user_id"], lease["origin"]) == ("red", "id of north", "north")
    assert (context["project_id"], context["origin"]) == (_GATEWAYS, "north")


def test_without_a_project_the_lease_is_the_peers_own(client: Client, site: Site) -> None:
    client.post("/v1/leases", {**_BODY, "on_behalf_of": {"project": "red"}}, headers=_PEER)
    ((_, _, lease),) = site.calls
    assert lease["project_id"] == _GATEWAYS


@pytest.mark.parametrize("headers", [_COLLEAGUE, _NAMESAKE, _STRANGER, _headers("root", "admin", "operators")])
@pytest.mark.parametrize("path", ["/v1/leases", "/v1/quotes"])
def test_nobody_without_the_role_names_a_project(
    client: Client, site: Site, path: str, headers: dict[str, str]
) -> None:
    answer = client.post(path, {**_BODY, **_FOR_RED}, headers=headers)
    assert (answer.status_code, (answer.json or {})["field"]) == (403, "on_behalf_of")
    assert site.calls == []


@pytest.mark.parametrize("hold", [{}, {"hold": True}])
def test_a_project_that_the_peer_may_not_lease_for_is_refused_first(
    client: Client, site: Site, hold: dict[str, bool]
) -> None:
    """It does not even learn whether the project exists."""
    said = {"on_behalf_of": {"project": "physics", "project_id": "nowhere"}}
    path = "/v1/quotes" if hold else "/v1/leases"
    site.refusal = RefusedError(403, f"{_FIELD}: not for nowhere", _FIELD, reason=RefusalReason.PROJECT)
    answer = client.post(path, {**_BODY, **said, **hold}, headers=_PEER)
    body = answer.json or {}
    assert (answer.status_code, body["field"], body["reason_code"]) == (403, _FIELD, "project")
    assert "not for nowhere" in body["error_message"]
    assert [name for name, *_ in site.calls] == ["check_project"]


def test_a_project_that_does_not_exist_is_refused(client: Client, site: Site) -> None:
    for project_id in ("RED", "green"):
        said = {"on_behalf_of": {"project": "physics", "project_id": project_id}}
        answer = client.post("/v1/leases", {**_BODY, **said}, headers=_PEER)
        body = answer.json or {}
        assert (answer.status_code, body["field"], body["reason_code"]) == (403, _FIELD, "project")
        assert f"no enabled project {project_id}" in body["error_message"]
    assert {name for name, *_ in site.calls} == {"check_project"}


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"servers": [{"name": "web", "image_id": "a"}]}, "servers"),
        (
            {
                "nodes": [],
                "reservations": [
                    {
                        "resource_type": "virtual:instance",
                        "amount": 1,
                        "vcpus": 1,
                        "memory_mb": 1,
                        "disk_gb": 1,
                        "affinity": True,
                        "resource_properties": "",
                    }
                ],
            },
            "affinity",
        ),
    ],
)
def test_nothing_is_done_in_that_project_with_the_roles_of_the_peer(
    client: Client, site: Site, terms: dict[str, Any], field: str
) -> None:
    body = {key: value for key, value in {**_BODY, **_FOR_RED, **terms}.items() if value != []}
    answer = client.post("/v1/leases", body, headers=_PEER)
    assert (answer.status_code, (answer.json or {})["field"]) == (400, field)
    assert [name for name, *_ in site.calls] == ["check_project"]


def test_series_are_for_the_own_project_only(client: Client, site: Site) -> None:
    dates = {"start_date": "2099-01-01 12:00", "end_date": "2099-01-01 13:00"}
    lease = {"name": "a", "nodes": _BODY["nodes"], **dates, **_FOR_RED}
    answer = client.post("/v1/series", {"rule": "FREQ=DAILY;COUNT=2", "lease": lease}, headers=_PEER)
    assert (answer.status_code, (answer.json or {})["field"]) == (400, f"lease.{_FIELD}")
    assert site.calls == []


def test_the_key_is_of_its_microversion(client: Client, site: Site) -> None:
    answer = client.at("1.49").post("/v1/leases", {**_BODY, **_FOR_RED}, headers=_PEER)
    assert (answer.status_code, (answer.json or {})["field"]) == (400, _FIELD)
    made = _made(client)
    assert made["on_behalf_of"] == _FOR_RED["on_behalf_of"]
    older = client.at("1.49").get(f"/v1/leases/{made['id']}", headers=_TENANT).json or {}
    assert older["lease"]["on_behalf_of"] == {"project": "physics", "user": "ada"}


def test_tenant_and_peer_use_it_and_others_do_not(client: Client) -> None:
    path = f"/v1/leases/{_made(client)['id']}"
    for headers in (_TENANT, _PEER):
        assert client.get(path, headers=headers).status_code == 200
        assert client.get(f"{path}/history", headers=headers).status_code == 200
        assert client.put(path, {"name": "renamed"}, headers=headers).status_code == 200
        for action in ("accept", "reject", "end"):
            assert client.post(f"{path}/action", {action: {}}, headers=headers).status_code == 200
    for headers in (_OTHER_PEER, _COLLEAGUE, _NAMESAKE, _STRANGER):
        assert client.get(path, headers=headers).status_code == 403
        assert client.get(f"{path}/history", headers=headers).status_code == 403
        assert client.put(path, {"name": "stolen"}, headers=headers).status_code == 403
        assert client.post(f"{path}/action", {"end": {}}, headers=headers).status_code == 403
        assert client.delete(path, headers=headers).status_code == 403
    assert client.delete(path, headers=_PEER).status_code == 204


def test_a_peer_sees_neither_hosts_nor_names_and_approves_nothing(client: Client) -> None:
    path = f"/v1/leases/{_made(client)['id']}"
    for part in ("hosts", "names"):
        assert client.get(f"{path}/{part}", headers=_PEER).status_code == 403
    assert client.post(f"{path}/action", {"approve": {}}, headers=_PEER).status_code == 403
    reader = {**_PEER, "X-Roles": "reader,peer"}
    assert client.get(path, headers=reader).status_code == 200
    assert client.post(f"{path}/action", {"end": {}}, headers=reader).status_code == 403


def test_a_lease_of_a_tenants_own_is_no_lease_of_a_peer(client: Client) -> None:
    made = (client.post("/v1/leases", _BODY, headers=_TENANT).json or {})["lease"]
    for headers in (_PEER, _OTHER_PEER, _STRANGER):
        assert client.get(f"/v1/leases/{made['id']}", headers=headers).status_code == 403


def test_an_id_that_is_repeated_with_another_project_or_by_another_peer_is_refused(client: Client) -> None:
    chosen = {"id": str(uuid4())}
    made = _made(client, **chosen)
    assert _made(client, **chosen)["id"] == made["id"]
    other = {"on_behalf_of": {**_FOR_RED["on_behalf_of"], "project_id": "blue"}}
    own = {"on_behalf_of": {"project": "physics", "user": "ada"}}
    for headers, said in (
        (_PEER, other),
        (_PEER, own),
        (_OTHER_PEER, _FOR_RED),
        (_COLLEAGUE, _FOR_RED),
        (_TENANT, _FOR_RED),
        (_TENANT, {}),
    ):
        answer = client.post("/v1/leases", {**_BODY, **said, **chosen}, headers=headers)
        assert (answer.status_code, (answer.json or {})["reason_code"]) == (409, "id-taken")


def test_the_peer_is_no_operator_in_the_history(client: Client, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _made(client)
    row = {"instant": 1, "from": "new", "to": "queued", "reason": "", "sequence": 1}
    actors = [("id of north", _GATEWAYS), ("id of ada", "red"), ("root", "operators")]
    monkeypatch.setattr(
        site, "history", lambda _: [{**row, "user_id": user, "project_id": project} for user, project in actors]
    )
    shown = (client.get(f"/v1/leases/{made['id']}/history", headers=_TENANT).json or {})["history"]
    assert [each["by_operator"] for each in shown] == [False, False, True]
    assert [each["user_id"] for each in shown] == [None, "id of ada", None]


def test_a_peer_is_told_the_events_of_its_leases_wherever_they_are(client: Client) -> None:
    made = _made(client)["id"]
    own = (client.post("/v1/leases", _BODY, headers=_PEER).json or {})["lease"]["id"]
    local = (client.post("/v1/leases", _BODY, headers=_TENANT).json or {})["lease"]["id"]

    def told(headers: dict[str, str], query: str = "", version: str = "1.50") -> set[str]:
        answer = client.at(version).get(f"/v1/events{query}", headers=headers)
        return {each["lease_id"] for each in (answer.json or {})["events"]}

    assert told(_PEER) == {made, own}
    assert told(_PEER, f"?project_id={_GATEWAYS}") == told(_PEER, version="1.49") == {own}
    assert told(_TENANT) == {made, local}
    assert told(_OTHER_PEER) == told(_COLLEAGUE) == {own}
    assert told(_NAMESAKE) == set()
    assert client.get("/v1/events?project_id=red", headers=_PEER).status_code == 403


def test_pools_are_those_of_the_project(build: Build, site: Site) -> None:
    """What the roles of the peer open stays closed to the project."""
    pools = (PoolRule("gpu", roles=frozenset({"peer"})), PoolRule("red", projects=frozenset({"red"})), PoolRule("all"))
    client = Client(build(ApiSettings(auth="keystone", peer_role="peer", pools=pools)), "1.50")
    client.post("/v1/leases", {**_BODY, **_FOR_RED}, headers=_PEER)
    assert site.calls[-1][2]["pools"] == ["red", "all"]
    client.post("/v1/leases", _BODY, headers=_PEER)
    assert site.calls[-1][2]["pools"] == ["gpu", "all"]
    answer = client.post("/v1/leases", {**_BODY, **_FOR_RED, "pool": "gpu"}, headers=_PEER)
    assert (answer.status_code, (answer.json or {})["field"]) == (400, "pool")


@pytest.mark.parametrize("projects", [["red", "blue"], "all", []])
def test_an_administrator_says_for_which_projects_a_peer_leases(client: Client, projects: object) -> None:
    admin = _headers("root", "admin", "operators")
    path = "/v1/peers/north"
    shown = (client.put(path, {"projects": projects, "max_nodes": 4}, headers=admin).json or {})["peer"]
    expected = sorted(projects) if isinstance(projects, list) else projects
    assert (shown["limits"]["projects"], shown["limits"]["max_nodes"]) == (expected, 4)
    assert "projects" not in (client.at("1.49").get(path, headers=admin).json or {})["peer"]["limits"]
    # All limits are set at once.
    assert (client.put(path, {"max_nodes": 4}, headers=admin).json or {})["peer"]["limits"]["projects"] == []


@pytest.mark.parametrize("projects", ["every", [""], ["red", "red"], 3, None])
def test_wrong_projects_are_named(client: Client, site: Site, projects: object) -> None:
    admin = _headers("root", "admin", "operators")
    answer = client.put("/v1/peers/north", {"projects": projects}, headers=admin)
    assert answer.status_code == 400
    assert (answer.json or {})["field"].startswith("projects")
    assert client.at("1.49").put("/v1/peers/north", {"projects": []}, headers=admin).status_code == 400
    assert site.calls == []
