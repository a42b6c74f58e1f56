from __future__ import annotations

import json
from typing import Any

import pytest

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login import bodies

_SECRET = "tell-nobody"


def _read(value: Any, known: str = "domain user password passcode project_id") -> bodies.Body:
    return bodies.read_body(json.dumps(value).encode(), "application/json", frozenset(known.split()))


def test_a_password_is_read_and_not_shown() -> None:
    body = _read({"domain": "Default", "user": "eve", "password": _SECRET, "passcode": ""})
    found = bodies.password(body)
    assert (found.domain, found.user, found.password, found.passcode) == ("Default", "eve", _SECRET, None)
    assert _SECRET not in repr(found)
    assert bodies.password({**body, "passcode": "123456"}).passcode == "123456"


@pytest.mark.parametrize("key", ["domain", "user", "password", "passcode", "project_id"])
@pytest.mark.parametrize("value", [5, ["tell-nobody"], {"a": "tell-nobody"}, "tell-nobody" * 400, True])
def test_wrong_values_are_named_but_not_repeated(key: str, value: Any) -> None:
    body = {"domain": "Default", "user": "eve", "password": "x", key: value}
    with pytest.raises(ApiError) as raised:
        bodies.project_id(body) if key == "project_id" else bodies.password(body)
    assert (raised.value.code, raised.value.field) == (400, key)
    assert _SECRET not in raised.value.message


@pytest.mark.parametrize("key", ["domain", "user", "password"])
@pytest.mark.parametrize("value", ["", None])
def test_missing_values_are_named(key: str, value: Any) -> None:
    with pytest.raises(ApiError, match=f"^{key}: must be a text"):
        bodies.password({"domain": "Default", "user": "eve", "password": "x", key: value})


def test_application_credentials_have_an_id_or_a_name_and_user() -> None:
    by_id = bodies.application_credential({"id": "c1", "secret": _SECRET})
    assert (by_id.id, by_id.name, by_id.secret) == ("c1", None, _SECRET)
    by_name = bodies.application_credential({"name": "page", "user": "eve", "domain": "Default", "secret": _SECRET})
    assert (by_name.id, by_name.name, by_name.user, by_name.domain) == (None, "page", "eve", "Default")
    assert _SECRET not in repr(by_name)
    with pytest.raises(ApiError, match="^user: "):
        bodies.application_credential({"name": "page", "domain": "Default", "secret": _SECRET})


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a b", "ä", "", "x" * 8_193, None, 5, ["x"], "a\x00"])
def test_invalid_tokens_are_refused(value: Any) -> None:
    """A token gets into a header, so nothing that could end the header gets through."""
    for read in (lambda: bodies.token({"token": value}), lambda: bodies.tokens({"tokens": [value]})):
        with pytest.raises(ApiError, match="must be a token$"):
            read()


@pytest.mark.parametrize("value", [None, [], ["a", "b", "c"], "a", {"a": 1}])
def test_one_or_two_tokens_are_accepted(value: Any) -> None:
    with pytest.raises(ApiError, match="^tokens: "):
        bodies.tokens({"tokens": value})
    assert bodies.tokens({"tokens": ["a", "a"]}) == ("a",)


@pytest.mark.parametrize("value", ["../users", "a b", "x" * 65, "ä", "a\n"])
def test_invalid_project_ids_are_refused(value: str) -> None:
    with pytest.raises(ApiError, match="^project_id: "):
        bodies.project_id({"project_id": value})


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_forms_are_refused(content_type: str) -> None:
    with pytest.raises(ApiError, match="^Content-Type: must be application/json"):
        bodies.read_body(b'{"user": "eve"}', content_type, frozenset({"user"}))


@pytest.mark.parametrize("value", [[], "tell-nobody", 5, None])
def test_other_json_is_refused(value: Any) -> None:
    with pytest.raises(ApiError, match="must be a JSON object") as raised:
        _read(value)
    assert _SECRET not in raised.value.message


def test_unknown_keys_are_refused_but_not_repeated() -> None:
    with pytest.raises(ApiError, match="unknown keys; known are domain, passcode, password") as raised:
        _read({_SECRET: 1})
    assert _SECRET not in raised.value.message
