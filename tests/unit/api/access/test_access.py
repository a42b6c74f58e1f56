"""Every route with every role, on the project's own objects and on those of other projects."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from oslo_config import cfg
from oslo_policy import policy

from lease_scheduler.api import access
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.settings import ApiSettings
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import Site, Sites
from tests.unit.api.handlers.test_leases import DATES, INSTANCES, made

ROLES = ("other", "reader", "member", "manager", "admin")
EVERYBODY = frozenset(ROLES)
READERS = frozenset(ROLES) - {"other"}
MEMBERS = READERS - {"reader"}
ADMINS = frozenset({"admin"})

NODES = {"nodes": [{"count": 1, "resources": {"VCPU": 1}}]}
LEASE = {"name": "a", **DATES}

#: Route -> roles that may use it on an object of their own project, its body and its query.
EXPECTED: dict[str, tuple[frozenset[str], Any, str]] = {
    "GET /": (EVERYBODY, None, ""),
    "GET /versions": (EVERYBODY, None, ""),
    "GET /v1": (EVERYBODY, None, ""),
    "GET /v1/": (EVERYBODY, None, ""),
    "GET /v1/openapi.json": (EVERYBODY, None, ""),
    "GET /v1/leases": (READERS, None, ""),
    "POST /v1/leases": (MEMBERS, LEASE, ""),
    "GET /v1/leases/{lease_id}": (READERS, None, ""),
    "PUT /v1/leases/{lease_id}": (MEMBERS, {"name": "b"}, ""),
    "DELETE /v1/leases/{lease_id}": (MEMBERS, None, ""),
    "PUT /v1/withdrawals/{request_id}": (MEMBERS, None, ""),
    "GET /v1/leases/{lease_id}/history": (READERS, None, ""),
    "GET /v1/leases/{lease_id}/names": (READERS, None, ""),
    "POST /v1/leases/{lease_id}/action": (MEMBERS, {"end": {}}, ""),
    "POST /v1/leases/{lease_id}/quote": (MEMBERS, {"extend": {"by": "1h"}}, ""),
    "GET /v1/leases/{lease_id}/hosts": (READERS, None, ""),
    "GET /v1/leases.ics": (READERS, None, ""),
    "GET /v1/os-hosts": (ADMINS, None, ""),
    "POST /v1/os-hosts": (ADMINS, {"name": "host-9"}, ""),
    "GET /v1/os-hosts/allocations": (ADMINS, None, ""),
    "GET /v1/os-hosts/properties": (ADMINS, None, ""),
    "PATCH /v1/os-hosts/properties/{property_name}": (ADMINS, {"private": True}, ""),
    "GET /v1/os-hosts/{host_id}": (ADMINS, None, ""),
    "PUT /v1/os-hosts/{host_id}": (ADMINS, {"gpu": "no"}, ""),
    "DELETE /v1/os-hosts/{host_id}": (ADMINS, None, ""),
    "POST /v1/os-hosts/{host_id}/action": (ADMINS, {"wake": {}}, ""),
    "GET /v1/os-hosts/{host_id}/allocation": (ADMINS, None, ""),
    "GET /v1/floatingips": (READERS, None, ""),
    "POST /v1/floatingips": (ADMINS, {"floating_network_id": "net", "floating_ip_address": "10.0.0.9"}, ""),
    "GET /v1/floatingips/{floatingip_id}": (READERS, None, ""),
    "DELETE /v1/floatingips/{floatingip_id}": (ADMINS, None, ""),
    "GET /v1/availability": (READERS, None, "?vcpus=1"),
    "GET /v1/pools": (READERS, None, ""),
    "POST /v1/quotes": (MEMBERS, LEASE, ""),
    "GET /v1/maintenances": (ADMINS, None, ""),
    "POST /v1/maintenances": (ADMINS, {**LEASE, "hosts": ["host-1"]}, ""),
    "GET /v1/series": (READERS, None, ""),
    "POST /v1/series": (MEMBERS, {"rule": "FREQ=WEEKLY;COUNT=2", "lease": LEASE}, ""),
    "GET /v1/series/{series_id}": (READERS, None, ""),
    "DELETE /v1/series/{series_id}": (MEMBERS, None, ""),
    "GET /v1/subscriptions": (READERS, None, ""),
    "POST /v1/subscriptions": (MEMBERS, {"driver": "webhook", "target": "https://192.0.2.1/"}, ""),
    "GET /v1/subscriptions/{subscription_id}": (READERS, None, ""),
    "PUT /v1/subscriptions/{subscription_id}": (MEMBERS, {"event_types": ["lease.create"]}, ""),
    "DELETE /v1/subscriptions/{subscription_id}": (MEMBERS, None, ""),
    "GET /v1/feeds": (READERS, None, ""),
    "POST /v1/feeds": (MEMBERS, {"name": "phone"}, ""),
    "GET /v1/feeds/{feed_id}": (READERS, None, ""),
    "DELETE /v1/feeds/{feed_id}": (MEMBERS, None, ""),
    "GET /v1/flows": (READERS, None, ""),
    "GET /v1/flows/{flow}": (READERS, None, ""),
    "PUT /v1/flows/{flow}": (ADMINS, {"weight": 5}, ""),
    "GET /v1/member": (READERS, None, ""),
    "GET /v1/sites": (READERS, None, ""),
    "GET /v1/sites/{site}": (READERS, None, ""),
    "GET /v1/peers": (ADMINS, None, ""),
    "GET /v1/peers/{peer}": (ADMINS, None, ""),
    "PUT /v1/peers/{peer}": (ADMINS, {"max_nodes": 5}, ""),
    "DELETE /v1/peers/{peer}": (ADMINS, None, ""),
    "GET /v1/feeds/{secret}/leases.ics": (EVERYBODY, None, ""),
    "GET /v1/usage": (READERS, None, ""),
    "GET /v1/budget": (READERS, None, ""),
    "GET /v1/capacity": (ADMINS, None, ""),
    "GET /v1/projects": (ADMINS, None, ""),
    "GET /v1/forecasts": (ADMINS, None, ""),
    "GET /v1/calendar": (READERS, None, ""),
    "GET /v1/events": (READERS, None, ""),
}


def test_the_table_has_every_route() -> None:
    assert set(EXPECTED) == {route.name for route in ROUTES}


def cases() -> Iterator[Any]:
    for route, role in itertools.product(ROUTES, ROLES):
        for project in ("red", "blue") if route.subject is not None else ("red",):
            allowed = role in EXPECTED[route.name][0] and (project == "red" or role == "admin")
            yield pytest.param(route, role, project, allowed, id=f"{route.name} {role} {project}")


@pytest.fixture
def app(build: Build) -> Flask:
    return build(ApiSettings(auth="noauth", notification_drivers=("webhook",)), Sites())


@pytest.fixture
def arguments(member: Client, site: Site) -> dict[str, str]:
    """Values for the variable parts of paths; all of it belongs to the project ``red``."""
    lease = made(member, INSTANCES)
    site.add_host("host-1", {"gpu": "yes"})
    made_address = site.create_floatingip({}, {"floating_network_id": "net", "floating_ip_address": "10.0.0.1"})
    answer = member.at("latest").post("/v1/series", {"rule": "FREQ=DAILY;COUNT=2", "lease": LEASE})
    body = {"driver": "webhook", "target": "https://192.0.2.1/"}
    subscribed = member.at("latest").post("/v1/subscriptions", body)
    feed = (member.at("latest").post("/v1/feeds", {"name": "phone"}).json or {})["feed"]
    site.set_peer({}, "north", {})
    site.calls.clear()
    return {
        "feed_id": feed["id"],
        "flow": "red",
        "peer": "north",
        "site": "north",
        "request_id": "6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42",
        "secret": feed["url"].split("/")[-2],
        "lease_id": lease["id"],
        "host_id": "1",
        "property_name": "gpu",
        "floatingip_id": made_address["floatingip_id"],
        "series_id": (answer.json or {})["series"]["id"],
        "subscription_id": (subscribed.json or {})["subscription"]["id"],
    }


@pytest.mark.parametrize(("route", "role", "project", "allowed"), list(cases()))
def test_every_route_with_every_role(
    app: Flask, site: Site, arguments: dict[str, str], route: Route, role: str, project: str, allowed: bool
) -> None:
    _, body, query = EXPECTED[route.name]
    client = Client(app, "latest", role, project)
    answer = client.send(route.method, route.path.format(**arguments) + query, body)
    assert answer.status_code == (route.code if allowed else 403), answer.json
    if not allowed:
        assert site.calls == []
        assert (answer.json or {})["error_message"] == f"Policy doesn't allow reservation:{route.rule} to be performed."


def test_the_rules_of_all_routes_exist_and_say_what_they_guard() -> None:
    rules = {rule.name: rule for rule in access.list_rules()}
    guarded = set()
    for rule in rules.values():
        if isinstance(rule, policy.DocumentedRuleDefault):
            assert rule.scope_types == ["project"]
            guarded |= {f"{operation['method']} {operation['path']}" for operation in rule.operations}
    for route in ROUTES:
        if route.rule is not None:
            assert f"reservation:{route.rule}" in rules
            assert route.name in guarded
    assert guarded <= {route.name for route in ROUTES}


def test_operators_override_rules(build: Any, site: Site) -> None:
    """A rule that the enforcer has already is not replaced."""
    conf = cfg.ConfigOpts()
    conf([], project="lease-scheduler", default_config_files=[])
    enforcer = policy.Enforcer(conf)
    access.register(enforcer)
    access.register(enforcer)
    enforcer.set_rules(policy.Rules.from_dict({"reservation:leases:get": "!"}), overwrite=False)
    assert not enforcer.authorize("reservation:leases:get", {"project_id": "red"}, {"roles": ["admin"]}, do_raise=False)


class TestListsOfOtherProjects:
    """From 1.1 on, lists have one's own project only; administrators may ask for others."""

    @pytest.fixture(autouse=True)
    def leases(self, app: Flask, site: Site) -> None:
        for project in ("red", "blue"):
            made(Client(app, roles="member", project=project), INSTANCES, name=project)

    @pytest.mark.parametrize(
        ("role", "version", "query", "expected"),
        [
            ("member", None, "", {"red"}),
            ("admin", None, "", {"red", "blue"}),
            ("admin", "1.1", "", {"red"}),
            ("admin", "1.1", "?all_projects=true", {"red", "blue"}),
            ("admin", "1.1", "?project_id=blue", {"blue"}),
            ("admin", "1.1", "?project_id=blue&all_projects=1", {"blue"}),
            ("member", "1.1", "?project_id=red", {"red"}),
            ("member", "1.1", "?all_projects=false", {"red"}),
            ("member", "1.1", "?project_id=blue", None),
            ("manager", "1.1", "?all_projects=true", None),
        ],
    )
    def test_lists_have_leases_of_other_projects_for_administrators_only(
        self, app: Flask, role: str, version: str | None, query: str, expected: set[str] | None
    ) -> None:
        answer = Client(app, version, role).get(f"/v1/leases{query}")
        if expected is None:
            assert answer.status_code == 403
        else:
            assert {lease["project_id"] for lease in (answer.json or {})["leases"]} == expected
