"""Keystone as the login uses it, where the real one cannot be made to behave so.

What the real one does is tested in ``tests/functional/page/test_login.py``.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login.interfaces import ApplicationCredential, IdentityUnavailableError, Password
from lease_scheduler.cmd.keystone import KeystoneIdentity

_SECRET = "tell-nobody"
_CREDENTIALS = Password("Default", "eve", _SECRET)
_TOKEN = "gAAAA-token"

#: Status, headers and body of an answer.
Answer = tuple[int, dict[str, str], bytes]


class Scripted:
    """An HTTP server with answers that a test sets.

    :ivar answer: makes the answer from method and path
    :ivar requests: method, path, headers and body of all requests
    """

    def __init__(self) -> None:
        self.answer: Callable[[str, str], Answer] = lambda method, path: (404, {}, b"")
        self.requests: list[tuple[str, str, dict[str, str], str]] = []
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            """Answers all requests."""

            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                scripted.requests.append((self.command, self.path, dict(self.headers.items()), body))
                status, headers, content = scripted.answer(self.command, self.path)
                # A client that waits no longer has closed the connection.
                with suppress(ConnectionError):
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            do_GET = do_POST = do_DELETE = _any

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def keystone() -> Iterator[Scripted]:
    running = Scripted()
    yield running
    running.stop()


@pytest.fixture
def identity(keystone: Scripted) -> KeystoneIdentity:
    return KeystoneIdentity(keystone.url, True, 5)


def _error(code: int, message: str) -> Callable[[str, str], Answer]:
    body = json.dumps({"error": {"code": code, "message": message, "title": "x"}}).encode()
    return lambda method, path: (code, {"Content-Type": "application/json"}, body)


def _token(method: str, path: str) -> Answer:
    token = {
        "methods": ["password"],
        "user": {"id": "u1", "name": "eve", "domain": {"id": "default", "name": "Default"}},
        "expires_at": "2030-01-01T00:00:00.000000Z",
        "issued_at": "2029-12-31T00:00:00.000000Z",
        "audit_ids": ["x"],
    }
    return 201, {"X-Subject-Token": _TOKEN, "Content-Type": "application/json"}, json.dumps({"token": token}).encode()


def _everything(identity: KeystoneIdentity) -> list[Callable[[], object]]:
    return [
        lambda: identity.by_password(_CREDENTIALS, None),
        lambda: identity.by_application_credential(ApplicationCredential(_SECRET, id="c1"), None),
        lambda: identity.scoped(_TOKEN, "p1", None),
        lambda: identity.projects(_TOKEN, None),
        lambda: identity.revoke(_TOKEN, None),
    ]


def test_the_address_of_the_client_is_passed_on(identity: KeystoneIdentity, keystone: Scripted) -> None:
    keystone.answer = _token
    found = identity.by_password(_CREDENTIALS, "192.0.2.7")
    assert (found.token, found.user, found.domain, found.project) == (_TOKEN, "eve", "Default", None)
    ((method, path, headers, body),) = keystone.requests
    assert (method, path) == ("POST", "/v3/auth/tokens?nocatalog")
    assert headers["Forwarded"].startswith("for=192.0.2.7;")
    assert json.loads(body)["auth"]["scope"] == "unscoped"


@pytest.mark.parametrize("level", [logging.DEBUG])
def test_logs_have_no_secrets(
    identity: KeystoneIdentity, keystone: Scripted, caplog: pytest.LogCaptureFixture, level: int
) -> None:
    """Not even when everything is logged, and the request fails."""
    with caplog.at_level(level):
        for answer in (_token, _error(401, "no"), _error(500, "no")):
            keystone.answer = answer
            for ask in _everything(identity):
                try:
                    ask()
                except (ApiError, IdentityUnavailableError) as error:
                    assert _SECRET not in str(error)
    assert len(keystone.requests) == 15
    assert "auth/projects" in caplog.text
    assert _SECRET not in caplog.text
    assert _TOKEN not in caplog.text


@pytest.mark.parametrize(("status", "code"), [(400, 401), (401, 401), (403, 403), (404, 401)])
def test_refusals(identity: KeystoneIdentity, keystone: Scripted, status: int, code: int) -> None:
    keystone.answer = _error(status, "The request you have made requires authentication.")
    with pytest.raises(ApiError) as raised:
        identity.by_password(_CREDENTIALS, None)
    assert raised.value.code == code
    if code == 401:
        assert raised.value.message == "Keystone does not accept this user name, domain and password"


def test_an_unusual_reason_is_told(identity: KeystoneIdentity, keystone: Scripted) -> None:
    keystone.answer = _error(401, "The password is expired\nand needs to be changed for user: u1. " + "x" * 500)
    with pytest.raises(ApiError, match="It says: The password is expired and needs to be changed") as raised:
        identity.by_password(_CREDENTIALS, None)
    assert len(raised.value.message) < 400


def test_methods_that_the_page_does_not_have(identity: KeystoneIdentity, keystone: Scripted) -> None:
    body = {
        "receipt": {"methods": ["password"], "expires_at": "2030-01-01T00:00:00.000000Z"},
        "required_auth_methods": [["password", "fingerprint"]],
    }
    headers = {"Openstack-Auth-Receipt": "r", "Content-Type": "application/json"}
    keystone.answer = lambda method, path: (401, headers, json.dumps(body).encode())
    with pytest.raises(ApiError, match="also asks for fingerprint, which this page does not offer") as raised:
        identity.by_password(_CREDENTIALS, None)
    assert (raised.value.code, raised.value.field) == (401, None)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_keystone_that_fails(identity: KeystoneIdentity, keystone: Scripted, status: int) -> None:
    keystone.answer = lambda method, path: (status, {"Content-Type": "text/html"}, b"<html>broken</html>")
    for ask in _everything(identity):
        with pytest.raises(IdentityUnavailableError, match="does not answer at present"):
            ask()


@pytest.mark.parametrize(
    "content", [b"<html>log in to the Wi-Fi</html>", b"[]", b"{}", b'{"projects": 5}', b'{"token": {}}', b""]
)
def test_something_else_answers(identity: KeystoneIdentity, keystone: Scripted, content: bytes) -> None:
    keystone.answer = lambda method, path: (200, {"Content-Type": "application/json"}, content)
    for ask in _everything(identity)[:4]:
        with pytest.raises(IdentityUnavailableError):
            ask()
    assert identity.default_project(_TOKEN, None) is None


def test_a_keystone_that_is_down(keystone: Scripted) -> None:
    identity = KeystoneIdentity(keystone.url, True, 5)
    keystone.stop()
    for ask in _everything(identity):
        with pytest.raises(IdentityUnavailableError):
            ask()


def test_a_keystone_that_is_slow(keystone: Scripted) -> None:
    def answer(method: str, path: str) -> Answer:
        time.sleep(3)
        return _token(method, path)

    keystone.answer = answer
    begun = time.monotonic()
    with pytest.raises(IdentityUnavailableError):
        KeystoneIdentity(keystone.url, True, 0.3).by_password(_CREDENTIALS, None)
    assert time.monotonic() - begun < 2


def test_a_token_that_is_gone_is_revoked(identity: KeystoneIdentity, keystone: Scripted) -> None:
    keystone.answer = _error(401, "no")
    identity.revoke(_TOKEN, None)
    keystone.answer = _error(404, "no")
    identity.revoke(_TOKEN, None)
    keystone.answer = _error(403, "no")
    with pytest.raises(ApiError):
        identity.revoke(_TOKEN, None)
