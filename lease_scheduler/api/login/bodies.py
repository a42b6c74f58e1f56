"""Bodies of the login's requests.

Errors never repeat a value, since it may be a password in the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lease_scheduler.api.bodies import parse_body
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login.interfaces import ApplicationCredential, Password

#: Maximum size of a body in bytes. Tokens and secrets have some hundred.
MAXIMUM_BODY = 32_768
#: Maximum number of tokens that one request can revoke: the unscoped one, and that of a project.
_MAXIMUM_TOKENS = 2
_NAME = 255
_SECRET = 4_096
_PASSCODE = 64

#: Tokens are sent in a header, so they must have no other characters.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{1,8192}", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)

Body = Mapping[str, Any]


def read_body(raw: bytes, content_type: str, known: frozenset[str]) -> Body:
    """Return the JSON object of a request.

    :param known: the keys that it may have
    :raises ApiError: 400, the body is not such an object
    """
    body = parse_body(raw, content_type)
    if not isinstance(body, dict):
        raise ApiError(400, "The body must be a JSON object", "body")
    if not body.keys() <= known:
        raise ApiError(400, f"The body has unknown keys; known are {', '.join(sorted(known))}", "body")
    return body


def password(body: Body) -> Password:
    """Return the password in a body.

    :raises ApiError: 400, something is missing or has the wrong form
    """
    return Password(
        domain=_text(body, "domain", _NAME),
        user=_text(body, "user", _NAME),
        password=_text(body, "password", _SECRET),
        passcode=_optional(body, "passcode", _PASSCODE),
    )


def application_credential(body: Body) -> ApplicationCredential:
    """Return the application credential in a body: its id, or its name with user and domain.

    :raises ApiError: 400, something is missing or has the wrong form
    """
    secret = _text(body, "secret", _SECRET)
    if "id" in body:
        return ApplicationCredential(secret, id=_text(body, "id", _NAME))
    return ApplicationCredential(
        secret,
        name=_text(body, "name", _NAME),
        user=_text(body, "user", _NAME),
        domain=_text(body, "domain", _NAME),
    )


def project_id(body: Body) -> str | None:
    """Return the id of the project that the person used last, or None.

    :raises ApiError: 400, the value is not an id
    """
    value = _optional(body, "project_id", 64)
    if value is not None and not _ID.fullmatch(value):
        raise _wrong("project_id", "must be the id of a project")
    return value


def token(body: Body) -> str:
    """Return the token in a body.

    :raises ApiError: 400, there is none
    """
    return checked_token(body.get("token"))


def tokens(body: Body) -> tuple[str, ...]:
    """Return the tokens in a body.

    :raises ApiError: 400, there are none or too many
    """
    found = body.get("tokens")
    if not isinstance(found, list) or not 0 < len(found) <= _MAXIMUM_TOKENS:
        raise _wrong("tokens", f"must be a list of 1 to {_MAXIMUM_TOKENS} tokens")
    return tuple(dict.fromkeys(checked_token(each, "tokens") for each in found))


def checked_token(value: Any, key: str = "token") -> str:
    """Return a value that is a token.

    :raises ApiError: 400, the value is not a token
    """
    if not isinstance(value, str) or not _TOKEN.fullmatch(value):
        raise _wrong(key, "must be a token")
    return value


def _text(body: Body, key: str, maximum: int) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= maximum:
        raise _wrong(key, f"must be a text of 1 to {maximum} characters")
    return value


def _optional(body: Body, key: str, maximum: int) -> str | None:
    return None if body.get(key) in (None, "") else _text(body, key, maximum)


def _wrong(key: str, problem: str) -> ApiError:
    return ApiError(400, f"{key}: {problem}", key)
