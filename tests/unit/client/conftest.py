"""A stand-in for the service that records requests, and OpenStackClient in this process."""

from __future__ import annotations

import json
import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

with warnings.catch_warnings():
    # It warns about one of its own modules, which it imports itself.
    warnings.filterwarnings("ignore", "The osc_lib.version module is deprecated", DeprecationWarning)
    import osc_lib  # noqa: F401


@dataclass(frozen=True)
class Asked:
    """A request as it came over the wire."""

    method: str
    path: str
    query: dict[str, str]
    version: str | None
    token: str | None
    body: Any


@dataclass
class Service:
    """Gives the answers that a test sets, and records the requests."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    _answers: dict[tuple[str, str], list[tuple[int, Any]]] = field(default_factory=dict)
    _failures: dict[tuple[str, str], int] = field(default_factory=dict)

    def will_answer(self, method: str, path: str, *contents: Any, status: int = 200) -> None:
        """Answer requests to a path with each of the contents in turn, and with the last one from then on."""
        self._answers[method, path] = [(status, content) for content in contents]

    def will_fail_once(self, method: str, path: str, status: int) -> None:
        """Answer the next request to a path with an error."""
        self._failures[method, path] = status

    def forget(self) -> None:
        self.asked.clear()
        self._answers.clear()
        self._failures.clear()

    def answer(self, asked: Asked) -> tuple[int, Any]:
        self.asked.append(asked)
        if status := self._failures.pop((asked.method, asked.path), None):
            return status, {"error": status, "error_message": "Not now"}
        answers = self._answers.get((asked.method, asked.path), [(404, {"error": 404, "error_message": "No route"})])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture(scope="session")
def stand_in() -> Iterator[Service]:
    """One stand-in for all tests, because OpenStackClient keeps the clients that it has made once."""
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
            version, token = self.headers.get("OpenStack-API-Version"), self.headers.get("X-Auth-Token")
            body = json.loads(content) if content else None
            status, answer = told.answer(Asked(self.command, parts.path, query, version, token, body))
            sent = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(answer, str) else "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_DELETE = do_GET = do_POST = do_PUT = _handle

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield told
        server.shutdown()
        thread.join()


@pytest.fixture
def service(stand_in: Service) -> Service:
    """The stand-in, without recorded requests and without answers."""
    stand_in.forget()
    return stand_in


@dataclass(frozen=True)
class Outcome:
    """The result of a command."""

    status: int
    output: str
    errors: str

    @property
    def document(self) -> Any:
        """The output, parsed as JSON."""
        return json.loads(self.output)


Openstack = Callable[..., Outcome]


@pytest.fixture
def openstack(
    service: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Openstack]:
    """Runs ``openstack lease ...`` against the stand-in."""
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", "/nonexistent")
    root = logging.getLogger()
    with warnings.catch_warnings():
        # The warnings are about OpenStackClient and what it loads, not about us.
        warnings.simplefilter("ignore")
        from openstackclient.shell import OpenStackShell

        def run(*words: str) -> Outcome:
            capsys.readouterr()
            handlers, level = list(root.handlers), root.level
            login = ["--os-auth-type", "admin_token", "--os-endpoint", service.url, "--os-token", "secret"]
            try:
                status = OpenStackShell().run([*login, "lease", *words])
            except SystemExit as end:
                status = int(end.code or 0)
            # OpenStackClient configures logging as if it owned the process.
            for handler in set(root.handlers) - set(handlers):
                root.removeHandler(handler)
            root.setLevel(level)
            said = capsys.readouterr()
            return Outcome(int(status or 0), said.out, said.err)

        yield run
