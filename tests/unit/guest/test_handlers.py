from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.guest.errors import HandlerError, WrongSettingError
from lease_scheduler.guest.handlers import SIGNATURE, ScriptHandlers, WebhookHandlers, signature

_LEASE = {"id": "a", "name": "guest"}


def _script(folder: Path, *lines: str) -> str:
    path = folder / "handler"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def test_a_script_gets_verb_node_and_lease(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = _script(tmp_path, f'echo "$1 $2 $LEASE_SCHEDULER_LEASE_ID" > {seen}', f"cat >> {seen}", "echo 10.0.0.7")
    assert ScriptHandlers(program, 30).join("c1", _LEASE) == "10.0.0.7"
    first, lease = seen.read_text().splitlines()
    assert (first, json.loads(lease)) == ("join c1 a", _LEASE)


def test_a_script_without_output_gives_no_address(tmp_path: Path) -> None:
    handlers = ScriptHandlers(_script(tmp_path, "exit 0"), 30)
    assert handlers.join("c1", _LEASE) is None
    handlers.leave("c1", _LEASE)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("echo no server yet >&2; exit 3", "ended with status 3: no server yet"),
        ("echo 10.0.0.7 state=down", "is no address"),
        ("sleep 60", "took longer than 0.2 s"),
    ],
)
def test_a_script_that_fails(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(HandlerError, match=message):
        ScriptHandlers(_script(tmp_path, line), 0.2 if "sleep" in line else 30).join("c1", _LEASE)


def test_a_script_may_print_any_bytes(tmp_path: Path) -> None:
    with pytest.raises(HandlerError, match="ended with status 1: .*broken"):
        ScriptHandlers(_script(tmp_path, "printf '\\377 broken' >&2; exit 1"), 30).join("c1", _LEASE)


def test_a_script_that_is_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongSettingError, match=r"guest.handler_script: .* name an executable file"):
        ScriptHandlers(str(tmp_path / "missing"), 1)


class Receiver:
    """A web server that answers with a status and a body, and keeps what it received."""

    def __init__(self) -> None:
        self.status, self.answer = 200, b""
        #: How many bytes of the answer are announced and not sent.
        self.missing = 0
        self.received: list[tuple[str, bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append((self.headers[SIGNATURE], body))
                self.send_response(receiver.status)
                if receiver.missing:
                    self.send_header("Content-Length", str(len(receiver.answer) + receiver.missing))
                self.end_headers()
                self.wfile.write(receiver.answer)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    thread = threading.Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


def test_a_webhook_gets_a_signed_request(receiver: Receiver) -> None:
    receiver.answer = b'{"address": "10.0.0.7"}'
    handlers = WebhookHandlers(receiver.url, "key", 30)
    assert handlers.join("c1", _LEASE) == "10.0.0.7"
    handlers.leave("c1", _LEASE)
    assert [json.loads(body)["verb"] for _, body in receiver.received] == ["join", "leave"]
    assert all(signed == signature(b"key", body) for signed, body in receiver.received)


def test_the_signature_is_that_of_rfc_4231() -> None:
    """Test case 2 of RFC 4231."""
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert signature(b"Jefe", b"what do ya want for nothing?") == f"sha256={expected}"


def test_a_webhook_that_fails(receiver: Receiver) -> None:
    handlers = WebhookHandlers(receiver.url, "key", 30)
    receiver.status = 503
    with pytest.raises(HandlerError, match="leave c1: status 503"):
        handlers.leave("c1", _LEASE)
    receiver.status, receiver.answer = 200, b"<html>"
    with pytest.raises(HandlerError, match="is not JSON"):
        handlers.join("c1", _LEASE)
    receiver.answer, receiver.missing = b'{"address": "10', 5
    with pytest.raises(HandlerError, match="is not JSON"):
        handlers.join("c1", _LEASE)
    receiver.answer, receiver.missing = b"[" * 100_000, 0
    with pytest.raises(HandlerError, match="is not JSON"):
        handlers.join("c1", _LEASE)


@pytest.mark.parametrize(
    ("url", "secret", "option"), [("nodes", "key", "handler_url"), ("http://h/", "", "handler_secret")]
)
def test_a_webhook_without_url_or_secret_is_refused(url: str, secret: str, option: str) -> None:
    with pytest.raises(WrongSettingError, match=f"guest.{option}"):
        WebhookHandlers(url, secret, 1)
