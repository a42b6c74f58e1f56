"""Requests and answers as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from requests import PreparedRequest


@dataclass(frozen=True)
class Request:
    """A request of a client.

    :ivar service: host name of the URL, such as ``compute``
    :ivar path: path of the URL, with a leading slash
    :ivar query: the parameters; the last value of one that is repeated
    :ivar headers: names in lower case
    :ivar body: the JSON of the body, or None if it has none
    """

    method: str
    service: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def token(self) -> str | None:
        """The token with which the client authenticates itself, or None."""
        return self.headers.get("x-auth-token")

    @property
    def microversion(self) -> tuple[int, int] | None:
        """The requested microversion, or None if the client names none."""
        words = self.headers.get("openstack-api-version", "").split()
        major, _, minor = (words[-1] if words else "").partition(".")
        return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None


@dataclass(frozen=True)
class Answer:
    """An answer of a service.

    :ivar body: what is sent as JSON, or None for an empty body
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """A request that a service refuses; each service words it in its own form.

    :ivar code: Placement's code of the error, such as ``placement.concurrent_update``
    """

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


def read(prepared: PreparedRequest) -> Request:
    """Return a request that the library ``requests`` has prepared as a plain value."""
    parts = urlsplit(str(prepared.url))
    text = prepared.body.decode() if isinstance(prepared.body, bytes) else prepared.body
    try:
        body = json.loads(text) if isinstance(text, str) and text else None
    except ValueError:
        body = None
    return Request(
        str(prepared.method),
        parts.hostname or "",
        parts.path or "/",
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        {name.lower(): _text(value) for name, value in prepared.headers.items()},
        body,
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
