"""Flows: shares of projects, and weights that administrators set."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.api.dates import iso_date
from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site


def test_a_project_sees_its_own_share(member: Client, admin: Client, site: Site) -> None:
    """Where it stands, what it is owed, and when its queued leases are expected to start."""
    assert admin.at("latest").send("PUT", "/v1/flows/red", {"weight": 30}).status_code == 200
    assert admin.at("latest").send("PUT", "/v1/flows/blue", {"weight": 20}).status_code == 200

    (flow,) = (member.at("latest").get("/v1/flows").json or {})["flows"]

    assert (flow["name"], flow["policy"], flow["weight"], flow["weight_source"]) == ("red", "winks", 30, "set")
    assert (flow["share"], flow["owed_host_hours"], flow["queued"]) == (0.3, 2.0, 1)
    assert flow["leases"][0]["position"] == 1
    assert flow["leases"][0]["expected_start"].endswith("Z")
    assert member.at("latest").get("/v1/flows/red").json == {"flow": flow}
    assert member.at("latest").get("/v1/flows/blue").status_code == 403
    assert member.at("latest").get("/v1/flows?all_projects=true").status_code == 403
    assert member.at("latest").get("/v1/flows?project_id=blue").status_code == 403
    assert (member.at("latest").get("/v1/flows?visible=true").json or {})["flows"] == [flow]
    listed = (admin.at("latest").get("/v1/flows?all_projects=true").json or {})["flows"]
    assert [each["name"] for each in listed] == ["blue", "red"]
    assert (admin.at("latest").get("/v1/flows?visible=true").json or {})["flows"] == listed


def test_a_flow_has_the_shares_of_each_hour_of_the_last_day(member: Client, site: Site) -> None:
    """Own use in relation to that of all projects; the first hour is the part that is within the day."""
    now = site.clock.now()
    first, last = now - 86_400, now - now % 3_600
    site.usage_rows = [
        {"project_id": project, "start": start, "node_seconds": seconds}
        for project, start, seconds in (("red", first, 30.0), ("blue", first, 10.0), ("blue", last, 40.0))
    ]

    (flow,) = (member.at("latest").get("/v1/flows").json or {})["flows"]

    assert flow["share_of_last_day"] == 0.375
    assert len(flow["hours"]) == 25 - (now % 3_600 == 0)
    shares = {hour["start"]: hour["share"] for hour in flow["hours"]}
    assert shares.pop(iso_date(first)) == 0.75
    assert shares.pop(iso_date(last)) == 0.0
    assert set(shares.values()) == {None}
    assert "hours" not in (member.at("1.27").get("/v1/flows/red").json or {})["flow"]


def test_a_flow_says_why_a_queued_lease_cannot_start(member: Client, admin: Client, site: Site) -> None:
    admin.at("latest").send("PUT", "/v1/flows/red", {"weight": 30})
    site.flows["red"]["leases"] = [{"lease_id": "1", "position": 1, "expected_start": None, "blocked": "too wide"}]

    shown = (member.at("1.31").get("/v1/flows/red").json or {})["flow"]["leases"]
    assert shown == [{"lease_id": "1", "position": 1, "expected_start": None, "blocked": "too wide"}]
    assert "blocked" not in (member.at("1.30").get("/v1/flows/red").json or {})["flow"]["leases"][0]


def test_a_project_without_leases_has_a_flow(member: Client) -> None:
    flow = (member.at("latest").get("/v1/flows/red").json or {})["flow"]

    assert (flow["weight"], flow["weight_source"], flow["share"], flow["queued"]) == (None, "default", None, 0)


def test_null_lets_the_configured_weight_hold_again(admin: Client, site: Site) -> None:
    answer = admin.at("latest").send("PUT", "/v1/flows/red", {"weight": None})

    assert (answer.json or {})["flow"]["weight_source"] == "default"


@pytest.mark.parametrize("body", [{}, {"weight": 0}, {"weight": -1}, {"weight": "5"}, {"weight": 1e9}, {"share": 1}])
def test_wrong_weights_are_refused(admin: Client, site: Site, body: dict[str, Any]) -> None:
    answer = admin.at("latest").send("PUT", "/v1/flows/red", body)

    assert answer.status_code == 400
    assert "weight" in (answer.json or {})["error_message"] or "share" in (answer.json or {})["error_message"]
    assert site.calls == []


def test_what_is_not_a_number_is_refused(admin: Client, site: Site) -> None:
    headers = {"Content-Type": "application/json"}
    answer = admin.at("latest").send("PUT", "/v1/flows/red", None, headers=headers, data=b'{"weight": NaN}')

    assert answer.status_code == 400
    assert site.calls == []
