"""Pages of other sites cannot send requests to a service without authentication."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from werkzeug.test import Client, TestResponse

from lease_scheduler.api.guard import LocalOnly
from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.schemas.base import error


def _app(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"inside"]


def _send(host: str | None, origin: str | None = None, names: tuple[str, ...] = ()) -> TestResponse:
    environ = {} if origin is None else {"HTTP_ORIGIN": origin}
    client = Client(LocalOnly(_app, names))
    builder: dict[str, Any] = {"environ_overrides": {**environ, **({} if host is None else {"HTTP_HOST": host})}}
    if host is None:
        return client.open("/", environ_base={}, **builder)
    return client.post("/", **builder)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:1234", "127.8.8.8:1", "localhost:1234", "LOCALHOST", "[::1]:1234", "[::1]"]
)
def test_names_of_this_machine_are_accepted(host: str) -> None:
    assert _send(host).data == b"inside"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:1234",
        "127.0.0.1.evil.example",
        "localhost.evil.example:1234",
        "192.0.2.1",
        "0.0.0.0",
        "evil.example@127.0.0.1.nip.io",
        "[::1",
        "",
    ],
)
def test_other_names_are_refused(host: str) -> None:
    answer = _send(host)
    assert answer.status_code == 403
    Draft202012Validator(error(MAXIMUM)).validate(answer.get_json())
    assert "allowed_hosts" in answer.get_json()["error_message"]


def test_names_that_the_operator_lists_are_accepted() -> None:
    assert _send("leases.example:1234", names=("Leases.example",)).data == b"inside"
    assert _send("leases.example:1234", "https://leases.example", ("leases.example",)).data == b"inside"
    assert _send("evil.example", names=("leases.example",)).status_code == 403


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("http://127.0.0.1:1234", 200),
        ("https://127.0.0.1:1234", 200),
        ("http://127.0.0.1:8080", 403),
        ("http://127.0.0.1", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("file://", 403),
        ("http://127.0.0.1:1234.evil.example", 403),
        ("http://[", 403),
    ],
)
def test_only_our_own_page_may_ask(origin: str, code: int) -> None:
    assert _send("127.0.0.1:1234", origin).status_code == code
