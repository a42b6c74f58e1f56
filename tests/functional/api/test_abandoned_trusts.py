"""Trusts in a real Keystone that an API process has left behind by dying, beside those of others."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from lease_scheduler.api.trusts import KeystoneTrusts
from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.clouds.nova import ConfiguredNova, given_trusts
from lease_scheduler.records.trust_marks import SAFE_AGE, TrustMark
from lease_scheduler.service.core.clock import RealClock
from tests.servers.keystone import PASSWORD, REGION, Keystone, User

LIMIT = 60
DAY = 86_400


@pytest.fixture
def member(keystone: Keystone) -> User:
    return keystone.user("member", keystone.project("physics"), "member")


@pytest.fixture
def trustee(keystone: Keystone) -> User:
    return keystone.user("reservation", keystone.project("service"), "admin")


@pytest.fixture
def cloud(keystone: Keystone, trustee: User, tmp_path: Path) -> ConfiguredNova:
    path = tmp_path / "site.conf"
    path.write_text(
        f"[nova]\nauth_type = password\nauth_url = {keystone.url}\nuser_domain_id = default\n"
        f"project_domain_id = default\nproject_name = {trustee.project}\nusername = {trustee.name}\n"
        f"password = {PASSWORD}\nregion_name = {REGION}\n"
    )
    return ConfiguredNova(configuration.load(["--config-file", str(path)]))


def _token(keystone: Keystone, user: User) -> Any:
    """Return a user's token as keystonemiddleware describes it."""
    text = keystone.token(user)
    about = SimpleNamespace(user_id=user.id, project_id=user.project_id, role_names=["member"])
    return SimpleNamespace(user=about, get_token=lambda session: text)


def _given_by_others(keystone: Keystone, member: User, trustee: User) -> str:
    """Return a trust without a mark, as Blazar and older versions of this service have it."""
    trust: Any = {
        "trustor_user_id": member.id,
        "trustee_user_id": trustee.id,
        "project_id": member.project_id,
        "impersonation": True,
        "roles": [{"name": "member"}],
    }
    headers = {"X-Auth-Token": keystone.token(member)}
    answer = requests.post(f"{keystone.url}/OS-TRUST/trusts", json={"trust": trust}, headers=headers, timeout=LIMIT)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["trust"]["id"])


def test_only_old_trusts_of_this_site_are_abandoned(
    keystone: Keystone, cloud: ConfiguredNova, member: User, trustee: User
) -> None:
    now, token, identity = int(time.time()), _token(keystone, member), cloud.trustee()

    def give(mark: TrustMark, instant: int) -> str:
        return KeystoneTrusts(identity, lambda: mark.uses(instant), lambda ids: ()).give(token)

    mark = TrustMark("default", REGION)
    old, new = give(mark, now - DAY - SAFE_AGE), give(mark, now)
    elsewhere = give(TrustMark("default", "RegionTwo"), now - DAY - SAFE_AGE)
    foreign = _given_by_others(keystone, member, trustee)
    connection = cloud.connection()
    assert given_trusts(connection.trusts, mark, RealClock()) == {
        old: True,
        new: False,
        elsewhere: False,
        foreign: False,
    }
    connection.end_trust(old)
    assert set(connection.trusts()) == {new, elsewhere, foreign}


def test_a_trust_with_a_mark_is_as_good_as_one_without(keystone: Keystone, cloud: ConfiguredNova, member: User) -> None:
    mark = TrustMark("default", REGION)
    trusts = KeystoneTrusts(cloud.trustee(), lambda: mark.uses(int(time.time())), lambda ids: ())
    trust_id = trusts.give(_token(keystone, member))
    for _ in range(3):
        acting = cloud.connection().on_behalf_of(trust_id).client.session
        assert acting.get_user_id() == member.id
        assert acting.get_project_id() == member.project_id


def test_a_user_gives_many_trusts_at_once(keystone: Keystone, cloud: ConfiguredNova, member: User) -> None:
    """A series needs one for each of its leases."""
    mark, now, token = TrustMark("default", REGION), int(time.time()), _token(keystone, member)
    trusts = KeystoneTrusts(cloud.trustee(), lambda: mark.uses(now), lambda ids: ())
    assert len({trusts.give(token) for _ in range(3)}) == 3
