from __future__ import annotations

import pytest
from keystoneauth1.exceptions.http import Unauthorized
from keystoneauth1.identity.v3 import ApplicationCredential, Token
from keystoneauth1.session import Session

from tests.unit.rehearsal.cloud.site import Site


def test_a_password_gives_a_token_with_the_catalogue(site: Site) -> None:
    session = site.session("mallory", "physics")
    assert session.get_project_id() == site.project
    assert session.get_user_id() == site.member_id
    token = site.cloud.keystone.token(session.get_token())
    assert token.identity.roles == {"member", "reader"}
    assert session.get_endpoint(service_type="placement", interface="internal", region_name="RegionOne")


def test_a_token_gives_another_one(site: Site) -> None:
    first = str(site.session("mallory", "physics").get_token())
    again = Session(auth=Token(site.cloud.auth_url, first, project_id=site.project))
    assert again.get_user_id() == site.member_id


def test_an_application_credential_gives_a_token(site: Site) -> None:
    user = site.cloud.keystone.users[site.member_id]
    made = site.cloud.add_application_credential(user, site.project, "hush")
    auth = ApplicationCredential(
        site.cloud.auth_url, application_credential_id=made.id, application_credential_secret="hush"
    )
    assert Session(auth=auth).get_project_id() == site.project


@pytest.mark.parametrize(("user", "project"), [("nobody", "physics"), ("mallory", "service")])
def test_who_has_no_role_gets_none(site: Site, user: str, project: str) -> None:
    with pytest.raises(Unauthorized):
        site.session(user, project).get_token()


def test_a_token_expires_and_clients_get_another(site: Site) -> None:
    session = site.session()
    first = session.get_token()
    site.clock.run(site.cloud.keystone.token_lifetime + 1)
    answer = session.get("http://placement/resource_providers")
    assert answer.status_code == 200
    assert session.get_token() != first


def test_a_token_ends_with_its_project(site: Site) -> None:
    token = site.session("mallory", "physics").get_token()
    site.session().delete(f"{site.cloud.auth_url}/projects/{site.project}")
    answer = Session().get(
        "http://compute/v2.1/servers", headers={"X-Auth-Token": token}, authenticated=False, raise_exc=False
    )
    assert answer.status_code == 401


def test_a_service_validates_the_tokens_of_others(site: Site) -> None:
    """As keystonemiddleware does for our REST interface."""
    session, subject = site.session(), site.session("mallory", "physics").get_token()
    url = f"{site.cloud.auth_url}/auth/tokens"
    found = session.get(url, headers={"X-Subject-Token": subject}).json()["token"]
    assert (found["user"]["id"], found["project"]["id"]) == (site.member_id, site.project)
    assert sorted(each["name"] for each in found["roles"]) == ["member", "reader"]
    session.delete(url, headers={"X-Subject-Token": subject})
    assert session.get(url, headers={"X-Subject-Token": subject}, raise_exc=False).status_code == 404
