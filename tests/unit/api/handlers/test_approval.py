"""Leases that await approval, as answers show them, and who may decide."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site

_LEASE = {"name": "x", "kind": "immediate", "duration": 60, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}


def _waiting(member: Client, site: Site) -> str:
    lease_id = str((member.at("1.42").post("/v1/leases", _LEASE).json or {})["lease"]["id"])
    site.views[lease_id].update(state="ready", approval="awaiting", offered_until=site.clock.now() + 60)
    return lease_id


def _shown(client: Client, version: str, lease_id: str) -> dict[str, Any]:
    return dict((client.at(version).get(f"/v1/leases/{lease_id}").json or {})["lease"])


def test_the_state_is_awaiting_approval_from_1_42_on(member: Client, site: Site) -> None:
    lease_id = _waiting(member, site)
    shown = _shown(member, "1.42", lease_id)
    assert (shown["state"], shown["approval"], shown["status"]) == ("awaiting-approval", "awaiting", "PENDING")
    before = _shown(member, "1.41", lease_id)
    assert before["state"] == "ready" and "approval" not in before
    site.views[lease_id].update(state="cancelled", approval="declined", offered_until=None)
    shown = _shown(member, "1.42", lease_id)
    assert (shown["state"], shown["approval"]) == ("cancelled", "declined")


@pytest.mark.parametrize(("action", "approved"), [("approve", True), ("decline", False)])
def test_only_those_whom_the_rule_allows_decide(
    member: Client, admin: Client, site: Site, action: str, approved: bool
) -> None:
    path = f"/v1/leases/{_waiting(member, site)}/action"
    assert member.at("1.42").post(path, {action: {}}).status_code == 403
    assert site.calls[-1][0] == "create_lease"
    assert admin.at("1.41").post(path, {action: {}}).status_code == 400
    assert admin.at("1.42").post(path, {action: {"reason": "because"}}).status_code == 200
    assert site.calls[-1][0] == "decide_lease" and site.calls[-1][3:] == (approved, "because")


@pytest.mark.parametrize("body", [{}, {"approve": {}, "cancel": {}}, {"cancel": {}, "approve": {}}, [], ["approve"], 1])
def test_a_wrong_body_needs_no_permission_to_approve(member: Client, site: Site, body: Any) -> None:
    """A member is told what is wrong with it, and nothing happens."""
    path = f"/v1/leases/{_waiting(member, site)}/action"
    assert member.at("1.42").post(path, body).status_code == 400
    assert site.calls[-1][0] == "create_lease"


def test_who_may_not_act_is_refused_before_the_body_is_read(app: Flask, member: Client, site: Site) -> None:
    other = Client(app, "1.42", "member", project="blue")
    path = f"/v1/leases/{_waiting(member, site)}/action"
    bodies: list[Any] = [{"cancel": {}}, {"nonsense": 1}, []]
    for body in bodies:
        assert other.post(path, body).status_code == 403


def test_quotes_say_why_approval_would_be_needed(member: Client, site: Site) -> None:
    site.quote = {**site.quote, "approval": "it is large"}
    assert (member.at("1.42").post("/v1/quotes", _LEASE).json or {})["quote"]["approval"] == "it is large"
    assert "approval" not in (member.at("1.41").post("/v1/quotes", _LEASE).json or {})["quote"]
