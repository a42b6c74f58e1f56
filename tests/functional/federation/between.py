"""A server between a member and its site, which passes requests on and does harm to some of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

_SECONDS = 60.0


class Harm(Enum):
    """What becomes of a request."""

    LATE = "it is done, and answered only when the test says so"
    DROPPED = "it is done, and the connection ends without an answer"
    DENIED = "it is done, and the answer is that it was not"
    FORGOTTEN = "the answer is that there is no such lease"
    FAILING = "it is not done, as the site has an internal error"
    UNAUTHORIZED = "it is not done, as the login has expired"
    ELSEWHERE = "it is not done; a page of another server says that nothing is found"
    GARBLED = "it is done, and the answer is of another program"


_ANSWERS: dict[Harm, tuple[int, Any]] = {
    Harm.DENIED: (409, {"error_code": 409, "error_message": "there is no place for it", "reason_code": "capacity"}),
    Harm.FORGOTTEN: (404, {"error_code": 404, "error_message": "Object not found", "field": "lease_id"}),
    Harm.FAILING: (500, {"error_code": 500, "error_message": "Internal Server Error"}),
    Harm.UNAUTHORIZED: (401, {"error": {"code": 401, "message": "The request requires authentication"}}),
    Harm.ELSEWHERE: (404, "<html>404 Not Found</html>"),
    Harm.GARBLED: (200, {"it": "works"}),
}
_NOT_DONE = frozenset({Harm.FAILING, Harm.UNAUTHORIZED, Harm.ELSEWHERE, Harm.FORGOTTEN})


@dataclass
class Between:
    """The server.

    :ivar url: its URL
    :ivar harms: (method, end of the path, text in the body) -> what becomes of such requests
    :ivar may_answer: set it to have late answers sent
    """

    url: str
    harms: dict[tuple[str, str, str], Harm] = field(default_factory=dict)
    may_answer: threading.Event = field(default_factory=threading.Event)

    def harm_to(self, method: str, path: str, body: bytes) -> Harm | None:
        """Return what becomes of a request, or None if it is only passed on."""
        for (of_method, end, text), harm in self.harms.items():
            if method == of_method and path.partition("?")[0].endswith(end) and text.encode() in body:
                return harm
        return None


@contextmanager
def between(target: str) -> Iterator[Between]:
    """Yield a server in front of the one at a URL."""
    found = Between("")

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            harm = found.harm_to(self.command, self.path, body)
            status, content = 0, b""
            if harm not in _NOT_DONE:
                done = requests.request(
                    self.command, f"{target}{self.path}", data=body, headers=dict(self.headers), timeout=_SECONDS
                )
                status, content = done.status_code, done.content
            if harm is Harm.LATE:
                found.may_answer.wait(_SECONDS)
            if harm is Harm.DROPPED:
                self.close_connection = True
                return
            if harm in _ANSWERS:
                status, text = _ANSWERS[harm]
                content = (text if isinstance(text, str) else json.dumps(text)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, *arguments: Any) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *arguments: Any) -> None:
            """Ignore clients that have left."""

    server = Server(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        found.may_answer.set()
        server.shutdown()
        thread.join()
        server.server_close()
