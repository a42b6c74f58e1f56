from __future__ import annotations

import pytest

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login import sessions
from lease_scheduler.api.login.interfaces import ApplicationCredential, IdentityUnavailableError, Password
from tests.unit.api.login.fakes import ALPHA, BETA, GAMMA, PASSWORD, FakeIdentity


@pytest.fixture
def identity() -> FakeIdentity:
    return FakeIdentity()


@pytest.mark.parametrize(
    ("last", "default", "chosen"),
    [
        (None, None, ALPHA),
        (None, "b2", BETA),
        ("b2", "a1", BETA),
        ("gone", "b2", BETA),
        ("gone", "gone", ALPHA),
    ],
)
def test_the_last_project_is_chosen_or_the_default_or_the_first(
    identity: FakeIdentity, last: str | None, default: str | None, chosen: object
) -> None:
    """The one used last, else the default one, else the first."""
    identity.default = default
    found = sessions.by_password(identity, Password("Default", "eve", PASSWORD), last, "192.0.2.1")
    assert (found.project, found.projects, found.unscoped) == (chosen, (ALPHA, BETA), "unscoped")
    assert set(identity.clients) == {"192.0.2.1"}


def test_a_single_project_is_chosen_without_a_request(identity: FakeIdentity) -> None:
    identity.member_of, identity.default = (GAMMA,), "a1"
    found = sessions.by_token(identity, "unscoped", "a1", None)
    assert found.project == GAMMA
    # Projects and the token: the default project is of no interest.
    assert len(identity.clients) == 2


def test_without_a_project_the_token_is_revoked(identity: FakeIdentity) -> None:
    identity.member_of = ()
    with pytest.raises(ApiError, match="no role in any project") as raised:
        sessions.by_password(identity, Password("Default", "eve", PASSWORD), None, None)
    assert raised.value.code == 403
    assert identity.revoked == ["unscoped"]


def test_an_application_credential_has_one_project(identity: FakeIdentity) -> None:
    found = sessions.by_application_credential(identity, ApplicationCredential(PASSWORD, id="c1"), None)
    assert (found.token, found.unscoped, found.projects) == ("for-b2", None, (BETA,))


def test_tokens_are_in_the_document_and_not_in_the_repr(identity: FakeIdentity) -> None:
    found = sessions.by_token(identity, "unscoped", None, None)
    assert found.document()["projects"] == [{"id": "a1", "name": "alpha"}, {"id": "b2", "name": "beta"}]
    assert (found.document()["token"], found.document()["unscoped"]) == ("for-a1", "unscoped")
    assert "for-a1" not in repr(found)
    assert "unscoped='" not in repr(found)


def test_all_tokens_are_revoked(identity: FakeIdentity) -> None:
    """Also if one of them cannot be."""
    with pytest.raises(ApiError, match="It refuses"):
        sessions.end(identity, ("stubborn", "for-a1"), None)
    assert identity.revoked == ["for-a1"]
    identity.is_away = True
    with pytest.raises(IdentityUnavailableError):
        sessions.end(identity, ("for-a1",), None)
