"""Budgets as users of the service see them: over REST, with what was used and what is planned."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Rest, date, until

#: Noon of 15 January 2027: that day has twelve hours left, which are 36 real minutes.
_SETTINGS = """
[simulated_cloud]
hosts = 4
clock_speed = 20
clock_start = 1800014400
[service]
quote_lifetime = 3600
[enforcement]
enabled_filters = BudgetFilter
budget_period = day
budget_node_hours = 10
project_budgets = racing node_hours=3
"""
_HOUR = 3_600
_NOON = 1_800_014_400
_MIDNIGHT = _NOON + 12 * _HOUR


def _member(service: Any, project: str) -> Rest:
    return Rest(service, X_Project_Id=project, X_User_Id="ada", X_Roles="member")


def _terms(count: int, start: int, hours: int) -> dict[str, Any]:
    nodes = [{"count": count, "resources": {"VCPU": 8}}]
    return {"name": "x", "nodes": nodes, "start_date": date(start), "end_date": date(start + hours * _HOUR)}


def _budget(rest: Rest) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = rest.get("budget")["budget"]["lines"]
    return lines


def test_the_life_of_a_budget(make: Make) -> None:
    service = started(make, _SETTINGS, 4)
    member = _member(service, "physics")
    (line,) = _budget(member)
    assert (line["measure"], line["end"], line["left"]) == ("node_hours", "2027-01-16T00:00:00Z", 10.0)

    # Four of its six hours are today: 8 node-hours today, 4 tomorrow.
    terms = _terms(2, _MIDNIGHT - 4 * _HOUR, 6)
    quoted = member.post("quotes", terms)["quote"]["budget"]
    assert [(each["requested"], each["left"]) for each in quoted] == [(8.0, 2.0), (4.0, 6.0)]
    lease = member.post("leases", terms)["lease"]
    assert [(each["reserved"], each["left"]) for each in _budget(member)] == [(8.0, 2.0), (4.0, 6.0)]

    other = _terms(2, _MIDNIGHT - 3 * _HOUR, 3)
    assert member.post("quotes", other)["quote"]["budget"][0]["left"] == -4.0
    refused = member.ask("POST", "leases", other)
    assert (refused.status_code, refused.json()["field"]) == (403, "end_date")
    assert refused.json()["error_message"].startswith(
        "end_date: the project has 2 of 10 node_hours left until 2027-01-16 00:00:00 UTC (budget_node_hours), and the "
        "lease would use 6 in this time; "
    )
    # Other projects have budgets of their own.
    _member(service, "biology").post("leases", other)

    # It may grow tomorrow by six node-hours, and not by eight; and it may be shortened.
    path = f"leases/{lease['id']}"
    change = member.post(f"{path}/quote", {"extend": {"by": "3h"}})["quote"]
    assert [each["left"] for each in change["budget"]] == [2.0, 0.0]
    refused = member.ask("POST", f"{path}/action", {"extend": {"by": "4h"}})
    assert refused.status_code == 403
    assert "the changed lease would still use 12 in this time" in refused.json()["error_message"]
    (shorter,) = refused.json()["alternatives"]
    assert (shorter["change"], shorter["end"]) == ("duration", "2027-01-16T05:00:00Z")
    member.post(f"{path}/action", {"extend": {"by": "3h"}})
    member.post(f"{path}/action", {"shrink": {"by": "5h"}})
    assert [each["reserved"] for each in _budget(member)] == [8.0]

    # An early end gives back what was not used, and keeps what was.
    assert member.ask("DELETE", path).status_code == 204
    assert [each["left"] for each in _budget(member)] == [10.0]
    short = member.post("leases", {"name": "y", "kind": "immediate", "duration": "2h", "nodes": terms["nodes"]})[
        "lease"
    ]
    until(lambda: member.get(f"leases/{short['id']}")["lease"]["state"] == "active")
    until(lambda: _budget(member)[0]["used"] > 0)
    member.post(f"leases/{short['id']}/action", {"end": {}})
    until(lambda: member.get(f"leases/{short['id']}")["lease"]["state"] == "done")
    (line,) = _budget(member)
    (used,) = member.get("usage")["usage"]
    assert line["reserved"] == 0.0
    assert 0 < line["used"] < 4.0
    assert line["used"] == pytest.approx(used["node_hours"], abs=0.1)


def test_two_requests_do_not_use_the_same_rest(make: Make) -> None:
    service = started(make, _SETTINGS, 4)
    racing = _member(service, "racing")
    with ThreadPoolExecutor(6) as pool:
        terms = _terms(1, _MIDNIGHT - _HOUR, 1)
        answers = list(pool.map(lambda _: racing.ask("POST", "leases", terms).status_code, range(6)))
    # There are four hosts, and three node-hours.
    assert answers.count(201) == 3
    assert [each["left"] for each in _budget(racing)] == [0.0]


def test_what_waits_counts_and_offers_count(make: Make) -> None:
    service = started(make, _SETTINGS, 1)
    member = _member(service, "physics")
    offer = member.post("quotes", {**_terms(1, _MIDNIGHT - 6 * _HOUR, 6), "hold": True})["quote"]
    assert [each["left"] for each in offer["budget"]] == [4.0]
    assert [each["left"] for each in _budget(member)] == [4.0]
    best_effort = {"name": "z", "kind": "best-effort", "nodes": [{"count": 1, "resources": {"VCPU": 8}}]}
    assert member.ask("POST", "leases", {**best_effort, "duration": "5h"}).status_code == 403
    member.post(f"leases/{offer['lease_id']}/action", {"reject": {}})
    member.post("leases", {**best_effort, "duration": "5h"})
