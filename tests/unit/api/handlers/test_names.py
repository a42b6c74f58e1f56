"""Names of projects and users."""

from __future__ import annotations

from flask import Flask

from tests.unit.api.conftest import Client
from tests.unit.api.handlers.test_leases import DATES, HOSTS


def _made(client: Client) -> str:
    return str((client.post("/v1/leases", {"name": "x", "reservations": [HOSTS], **DATES}).json or {})["lease"]["id"])


def test_a_lease_has_the_names_of_its_project_and_users(member: Client, admin: Client) -> None:
    """An operator who did something stays unknown to the project. Operators know what Keystone tells."""
    lease_id = _made(member.at("1.40"))
    own = {"names": {"project": "Red", "users": {"ada": "Ada", "eve": "Eve"}}}
    assert member.at("1.40").get(f"/v1/leases/{lease_id}/names").json == own
    assert admin.at("1.40").get(f"/v1/leases/{lease_id}/names").json == own


def test_names_of_leases_of_others_are_refused(app: Flask, member: Client) -> None:
    stranger = Client(app, roles="member", project="blue")
    lease_id = _made(member.at("1.40"))
    assert stranger.at("1.40").get(f"/v1/leases/{lease_id}/names").status_code == 403


def test_operators_see_the_projects_that_have_leases(member: Client, admin: Client) -> None:
    assert admin.at("1.40").get("/v1/projects").json == {"projects": []}
    _made(member.at("1.40"))
    assert admin.at("1.40").get("/v1/projects").json == {"projects": [{"id": "red", "name": "Red"}]}
    assert member.at("1.40").get("/v1/projects").status_code == 403
