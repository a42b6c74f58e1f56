"""Names of projects and users from a real Keystone."""

from __future__ import annotations

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session

from lease_scheduler.api.keystone_names import KeystoneNames
from tests.servers.keystone import PASSWORD, Keystone, User


def _names(keystone: Keystone, user: User) -> KeystoneNames:
    auth = Password(
        keystone.url,
        username=user.name,
        password=PASSWORD,
        user_domain_id="default",
        project_name=user.project,
        project_domain_id="default",
    )
    return KeystoneNames(Adapter(Session(auth), service_type="identity", interface="public"), 60)


def test_a_service_that_may_read_them(keystone: Keystone) -> None:
    member = keystone.user("member", keystone.project("physics"), "member")
    names = _names(keystone, keystone.user("reservation", keystone.project("service"), "admin"))
    assert names.projects()[member.project_id] == member.project
    assert names.user(member.id) == member.name
    assert names.user("../projects") is None
    assert names.user("nobody") is None


def test_a_service_that_may_not(keystone: Keystone, caplog: pytest.LogCaptureFixture) -> None:
    """It is said once, and the page shows ids."""
    member = keystone.user("member", keystone.project("physics"), "member")
    names = _names(keystone, keystone.user("reservation", keystone.project("service"), "service"))
    for _ in range(2):
        assert names.projects() == {}
        assert names.user(member.id) is None
    assert len([each for each in caplog.messages if each.startswith("names are not known")]) == 2


def test_names_are_kept_while_keystone_is_away(keystone: Keystone) -> None:
    member = keystone.user("member", keystone.project("physics"), "member")
    service = keystone.user("reservation", keystone.project("service"), "admin")
    names = _names(keystone, service)
    assert names.user(member.id) == member.name
    keystone.ask("PATCH", f"users/{service.id}", {"user": {"enabled": False}})
    assert names.user(member.id) == member.name
    assert names.projects() == {}
