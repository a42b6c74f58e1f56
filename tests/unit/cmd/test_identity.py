"""Tokens that cannot be checked are not taken for bad ones, and are no internal error either."""

from __future__ import annotations

from typing import Any

import pytest
from keystoneauth1 import exceptions
from keystonemiddleware.auth_token import AuthProtocol, InvalidToken

from lease_scheduler.cmd import identity


@pytest.mark.parametrize(
    "failure",
    [
        exceptions.ConnectFailure("refused"),
        exceptions.ConnectTimeout("no answer"),
        exceptions.UnknownConnectionError("reset", OSError()),
        exceptions.RequestTimeout("no answer"),
    ],
    ids=lambda failure: type(failure).__name__,
)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_an_identity_service_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, is_wrapped: bool
) -> None:
    def fetch_token(*_: Any, **__: Any) -> None:
        try:
            raise failure
        except Exception:
            if is_wrapped:
                raise InvalidToken("invalid") from None
            raise

    monkeypatch.setattr(AuthProtocol, "fetch_token", fetch_token)
    check = identity._TokenCheck.__new__(identity._TokenCheck)
    with pytest.raises(identity._UncheckedError):
        check.fetch_token("token")


def test_a_bad_token_stays_a_bad_token(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch_token(*_: Any, **__: Any) -> None:
        raise InvalidToken("invalid")

    monkeypatch.setattr(AuthProtocol, "fetch_token", fetch_token)
    with pytest.raises(InvalidToken):
        identity._TokenCheck.__new__(identity._TokenCheck).fetch_token("token")
