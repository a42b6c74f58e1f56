"""Approval as tenants and approvers see it: over REST and the command line, with mails, a role and a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compat.inside import InsideShell
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.receivers import MailReceiver
from tests.functional.embedded.rest import Document, Rest, date, until
from tests.servers.reservation import ReservationService

_HOUR = 3_600
_NOON = 1_800_014_400
_POLICY = """
"approver_or_admin": "rule:admin or role:approver"
"reservation:leases:approve": "rule:approver_or_admin"
"reservation:leases:all_projects": "rule:approver_or_admin"
"reservation:leases:get": "rule:approver_or_admin or rule:project_reader_or_admin"
"""


@pytest.fixture
def mails(tmp_path: Path) -> Iterator[MailReceiver]:
    """A mail server."""
    found = MailReceiver(tmp_path)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def service(make: Make, mails: MailReceiver, tmp_path: Path) -> ReservationService:
    """A service where leases of more than four node-hours need approval, by somebody with a role of its own."""
    (tmp_path / "policy.yaml").write_text(_POLICY)
    found = make(
        configuration=f"""
[simulated_cloud]
hosts = 4
clock_speed = 20
clock_start = {_NOON}
[approval]
kinds = reservation, deadline, immediate, best-effort
node_hours = 4
mail_to = boss@example.org
[oslo_policy]
policy_file = {tmp_path / "policy.yaml"}
[tenant_notifications]
enabled_drivers = mail
retry_interval = 1
{mails.settings}"""
    )
    found.start()
    Rest(found).register(4)
    return found


def _rest(service: ReservationService, project: str, user: str, role: str, version: str = "latest") -> Rest:
    headers = {"X_Project_Id": project, "X_User_Id": user, "X_Roles": role}
    return Rest(service, **headers, OpenStack_API_Version=f"reservation {version}")


def _terms(hours: int, ahead: int = 5, count: int = 1) -> Document:
    start = _NOON + ahead * _HOUR
    nodes = [{"count": count, "resources": {"VCPU": 8}}]
    return {"name": "x", "nodes": nodes, "start_date": date(start), "end_date": date(start + hours * _HOUR)}


def _act(rest: Rest, lease: Document, action: str, **said: Any) -> int:
    return rest.ask("POST", f"leases/{lease['id']}/action", {action: said}).status_code


def test_the_life_of_a_lease_that_needs_approval(service: ReservationService, mails: MailReceiver) -> None:
    tenant, approver = _rest(service, "physics", "ada", "member"), _rest(service, "staff", "alan", "approver")
    tenant.post("subscriptions", {"driver": "mail", "target": "ada@example.org", "event_types": ["lease.approved"]})
    assert tenant.post("quotes", _terms(5))["quote"]["approval"] == "it is for more than 4 node-hours"
    assert tenant.post("quotes", _terms(4))["quote"]["approval"] is None
    held = tenant.post("quotes", {**_terms(5), "hold": True})["quote"]
    assert not held["granted"] and "ask for the lease itself" in held["reason"]

    lease = tenant.post("leases", {**_terms(5), "description": "for the paper"})["lease"]
    assert (lease["state"], lease["approval"], lease["status"]) == ("awaiting-approval", "awaiting", "PENDING")
    assert lease["expires_at"] == date(_NOON + 5 * _HOUR)
    # Clients that do not know of approval see an offer.
    old = _rest(service, "physics", "ada", "member", "1.41").get(f"leases/{lease['id']}")["lease"]
    assert old["state"] == "ready" and "approval" not in old
    (first,) = until(lambda: mails.got[:1])
    assert (first["To"], first["Subject"]) == ("boss@example.org", "Lease x awaits approval")
    text = first.get_content()
    assert f"openstack lease approve {lease['id']}" in text and "for the paper" in text and "User: ada" in text

    for role in ("member", "manager"):
        for project in ("physics", "biology"):
            other = _rest(service, project, "eve", role)
            assert [_act(other, lease, action) for action in ("approve", "decline")] == [403, 403]
    assert [_act(tenant, lease, action) for action in ("accept", "reject")] == [409, 409]
    # The key of one action opens no other one.
    both: Document = {"approve": {}, "cancel": {}}
    assert tenant.ask("POST", f"leases/{lease['id']}/action", both).status_code == 400
    assert approver.ask("POST", f"leases/{lease['id']}/action", both).status_code == 403
    assert _act(approver, lease, "cancel") == 403
    assert _act(approver, lease, "approve", reason="x" * 256) == 400
    assert _act(_rest(service, "staff", "alan", "approver", "1.41"), lease, "approve") == 400

    found = approver.get("leases?all_projects=true&state=awaiting-approval")["leases"]
    assert [each["id"] for each in found] == [lease["id"]]
    assert [each["id"] for each in tenant.get("leases?state=ready")["leases"]] == []
    assert _act(approver, lease, "approve", reason="go on") == 200
    assert _act(approver, lease, "approve") == 409
    assert _act(approver, lease, "decline") == 409
    (second,) = until(lambda: mails.got[1:2])
    assert (second["To"], second["Subject"]) == ("ada@example.org", "Lease x is approved")
    assert "is approved: go on" in second.get_content()
    shown = tenant.get(f"leases/{lease['id']}")["lease"]
    assert (shown["state"], shown["approval"]) == ("ready", "approved")
    history = Rest(service).get(f"leases/{lease['id']}/history")["history"]
    (decided,) = [each for each in history if each["reason"] == "approved: go on"]
    assert (decided["user_id"], decided["project_id"], decided["by_operator"]) == ("alan", "staff", True)

    # What was approved is not changed into something else.
    refused = tenant.ask("POST", f"leases/{lease['id']}/action", {"extend": {"by": "1h"}})
    assert (refused.status_code, refused.json()["field"]) == (409, "approval")
    assert "needs approval (it is for more than 4 node-hours)" in refused.json()["error_message"]
    assert tenant.ask("PUT", f"leases/{lease['id']}", {"end_date": date(_NOON + 11 * _HOUR)}).status_code == 409
    assert _act(tenant, lease, "shrink", by="1h") == 200


def test_what_blazars_clients_ask_for_waits_too_and_survives_a_restart(service: ReservationService) -> None:
    tenant = _rest(service, "physics", "ada", "member", "1.0")
    start = _NOON + 20 * _HOUR
    body = {
        "name": "blazar",
        "start_date": date(start)[:16].replace("T", " "),
        "end_date": date(start + 5 * _HOUR)[:16].replace("T", " "),
        "reservations": [
            {
                "resource_type": "physical:host",
                "min": 1,
                "max": 1,
                "hypervisor_properties": "",
                "resource_properties": "",
            }
        ],
        "events": [],
    }
    lease = tenant.post("leases", body)["lease"]
    assert lease["status"] == "PENDING" and {each["status"] for each in lease["reservations"]} == {"pending"}
    service.kill()
    service.start()
    admin = Rest(service)
    assert admin.state(lease) == "awaiting-approval"
    assert _act(admin, lease, "decline", reason="not now") == 200
    shown = admin.get(f"leases/{lease['id']}")["lease"]
    assert (shown["state"], shown["approval"], shown["reason"]) == ("cancelled", "declined", "declined: not now")
    assert tenant.get(f"leases/{lease['id']}")["lease"]["status"] == "TERMINATED"


def test_a_lease_on_which_nobody_decides_does_not_start(service: ReservationService) -> None:
    tenant = _rest(service, "physics", "ada", "member")
    now = tenant.now()
    lease = tenant.post("leases", {**_terms(5), "start_date": date(now + 200), "end_date": date(now + 6 * _HOUR)})[
        "lease"
    ]
    until(lambda: tenant.state(lease) == "cancelled")
    shown = tenant.get(f"leases/{lease['id']}")["lease"]
    assert (shown["approval"], shown["reason"]) == ("expired", "nobody approved it in time")
    assert shown["started_at"] is None


def test_the_commands_of_approvers(service: ReservationService) -> None:
    tenant = _rest(service, "physics", "ada", "member")
    first, second = (tenant.post("leases", {**_terms(5, ahead), "name": f"n{ahead}"})["lease"] for ahead in (5, 15))
    shell = InsideShell(service)

    def run(*words: str) -> Any:
        return shell.openstack("lease", *words, "-f", "json").document

    waiting = run("list", "--all-projects", "--state", "awaiting-approval", "--long")
    assert {each["ID"] for each in waiting} == {first["id"], second["id"]}
    assert run("approve", first["id"])["state"] == "ready"
    assert run("decline", second["id"], "--reason", "too long")["reason"] == "declined: too long"
    assert run("show", first["id"], "--approval")["approval"] == "approved"
