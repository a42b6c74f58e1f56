"""Names of projects and users from a real Keystone."""

from __future__ import annotations

from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.identity.v3 import Password
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session

from lease_scheduler.api.keystone_names import KeystoneNames
from lease_scheduler.api.login.interfaces import IdentityUnavailableError
from tests.servers.base import free_port
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
    assert len([each for each in caplog.messages if each.startswith("Keystone does not tell names")]) == 2


def test_projects_that_leases_can_be_for(keystone: Keystone) -> None:
    names = _names(keystone, keystone.user("reservation", keystone.project("service"), "admin"))
    enabled, disabled = keystone.project("physics"), keystone.project("biology")
    keystone.ask("PATCH", f"projects/{disabled}", {"project": {"enabled": False}})
    assert names.has_project(enabled)
    for other in (disabled, enabled.upper(), "default", "nobody", "", ".", "..", f"../projects/{enabled}"):
        assert not names.has_project(other)
    keystone.ask("PATCH", f"projects/{disabled}", {"project": {"enabled": True}})
    assert names.has_project(disabled)
    blind = _names(keystone, keystone.user("reservation", keystone.project("service"), "service"))
    with pytest.raises(IdentityUnavailableError, match="does not say to this service whether the project exists"):
        blind.has_project(enabled)


def test_names_are_kept_while_keystone_is_away(keystone: Keystone) -> None:
    member = keystone.user("member", keystone.project("physics"), "member")
    service = keystone.user("reservation", keystone.project("service"), "admin")
    names = _names(keystone, service)
    assert names.user(member.id) == member.name
    keystone.ask("PATCH", f"users/{service.id}", {"user": {"enabled": False}})
    assert names.user(member.id) == member.name
    assert names.projects() == {}


def test_nobody_waits_for_each_name_while_keystone_is_away() -> None:
    """It is asked again after a while, not for every user, and what it does not tell is not kept."""
    port = free_port()
    asked: list[str] = []

    class Counting(Adapter):
        def get(self, url: str, **options: Any) -> Any:
            asked.append(url)
            return super().get(url, **options)

    session = Session(NoAuth(f"http://127.0.0.1:{port}"))
    names = KeystoneNames(Counting(session, connect_retries=0), 5)
    assert [names.user(each) for each in ("a", "b", "c")] == [None] * 3
    assert names.projects() == {}
    assert asked == ["/users/a"]
