"""Trusts as our service gives, uses and ends them, through the driver's own connection."""

from __future__ import annotations

from typing import Any

import pytest
from keystoneauth1.exceptions.http import Forbidden
from keystoneauth1.session import Session

from lease_scheduler.cloud.nova.api.connection import Connection
from tests.unit.rehearsal.cloud.site import Site


def _give(site: Site, **more: Any) -> str:
    said = {
        "trustor_user_id": site.member_id,
        "trustee_user_id": site.admin_id,
        "project_id": site.project,
        "impersonation": True,
        "roles": [{"name": "member"}],
        **more,
    }
    answer = site.session("mallory", "physics").post(f"{site.cloud.auth_url}/OS-TRUST/trusts", json={"trust": said})
    return str(answer.json()["trust"]["id"])


def _connection(site: Site) -> Connection:
    def log_in(**options: Any) -> Session:
        scope = {key: value for key, value in options.items() if value is not None}
        return site.session(**scope) if scope else site.session()

    return Connection(log_in, "internal", "RegionOne")


def test_our_service_acts_for_the_user_who_gave_a_trust(site: Site) -> None:
    connection = _connection(site)
    trust_id = _give(site)
    assert connection.trusts() == {trust_id: None}
    nova = connection.on_behalf_of(trust_id)
    server = site.record(nova.servers.create("job", site.image, site.flavor, nics="none"))
    assert (server.project_id, server.user_id) == (site.project, site.member_id)


def test_a_trust_ends_once(site: Site) -> None:
    connection, trust_id = _connection(site), _give(site)
    for _ in range(2):
        connection.end_trust(trust_id)
    assert connection.trusts() == {}
    with pytest.raises(Forbidden):
        connection.on_behalf_of(trust_id).servers.list()


def test_a_trust_is_used_up(site: Site) -> None:
    connection, trust_id = _connection(site), _give(site, remaining_uses=1)
    connection.on_behalf_of(trust_id).servers.list()
    assert connection.trusts() == {trust_id: 0}
    with pytest.raises(Forbidden):
        site.session(trust_id=trust_id).get_token()


def test_nobody_gives_what_they_do_not_have(site: Site) -> None:
    with pytest.raises(Forbidden):
        _give(site, roles=[{"name": "admin"}])
    with pytest.raises(Forbidden):
        _give(site, trustor_user_id=site.admin_id)


def test_a_trust_ends_with_the_role_of_the_one_who_gave_it(site: Site) -> None:
    trust_id = _give(site)
    role = site.cloud.keystone.role_id("member")
    site.session().delete(f"{site.cloud.auth_url}/projects/{site.project}/users/{site.member_id}/roles/{role}")
    assert trust_id not in site.cloud.keystone.trusts
