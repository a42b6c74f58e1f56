"""What projects may still use, as answers show it."""

from __future__ import annotations

from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site

_LINE = {
    "measure": "node_hours",
    "start": 1_900_000_000,
    "end": 1_900_003_600,
    "limit": 10.0,
    "used": 1 / 3,
    "reserved": 2.0,
    "requested": 0.0,
    "left": 10 - 2 - 1 / 3,
}
_SHOWN = {
    "measure": "node_hours",
    "start": "2030-03-17T17:46:40Z",
    "end": "2030-03-17T18:46:40Z",
    "limit": 10.0,
    "used": 0.333333,
    "reserved": 2.0,
    "requested": 0.0,
    "left": 7.666667,
}
_LEASE = {"name": "x", "kind": "immediate", "duration": 60, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}


def test_a_project_sees_its_budget(member: Client, site: Site) -> None:
    site.budget_lines = [_LINE]
    found = member.at("1.41").get("/v1/budget").json
    assert found == {"budget": {"project_id": "red", "lines": [_SHOWN]}}
    assert site.calls[-1][0] == "show_budget" and site.calls[-1][2] == "red"
    assert member.at("1.40").get("/v1/budget").status_code == 404


def test_lines_are_null_without_budgets(member: Client) -> None:
    assert member.at("1.41").get("/v1/budget").json == {"budget": {"project_id": "red", "lines": None}}


def test_only_administrators_see_budgets_of_other_projects(member: Client, admin: Client, site: Site) -> None:
    assert member.at("1.41").get("/v1/budget?project_id=red").status_code == 200
    assert member.at("1.41").get("/v1/budget?project_id=blue").status_code == 403
    assert admin.at("1.41").get("/v1/budget?project_id=blue").status_code == 200
    assert site.calls[-1][2] == "blue"


def test_quotes_have_the_budget_from_its_microversion_on(member: Client, site: Site) -> None:
    site.quote = {**site.quote, "budget": [_LINE]}
    assert (member.at("1.41").post("/v1/quotes", _LEASE).json or {})["quote"]["budget"] == [_SHOWN]
    assert "budget" not in (member.at("1.40").post("/v1/quotes", _LEASE).json or {})["quote"]
    lease_id = (member.at("1.41").post("/v1/leases", _LEASE).json or {})["lease"]["id"]
    change = {"change": {"duration": "2h"}}
    found = member.at("1.41").post(f"/v1/leases/{lease_id}/quote", change).json or {}
    assert found["quote"]["budget"] == [_SHOWN]
    found = member.at("1.40").post(f"/v1/leases/{lease_id}/quote", change).json or {}
    assert "budget" not in found["quote"]


def test_a_quote_that_is_not_granted_has_no_budget(member: Client, site: Site) -> None:
    site.quote = {**site.quote, "granted": False, "budget": None}
    assert (member.at("1.41").post("/v1/quotes", _LEASE).json or {})["quote"]["budget"] is None
