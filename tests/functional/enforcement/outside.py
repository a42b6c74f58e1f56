"""Stand-ins for external servers: the service that decides on leases, and the parts of Keystone that are used."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.base import free_port, wait_until

Document = dict[str, Any]
Answer = tuple[int, Document | None]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Document


class Server:
    """An HTTP server whose answers a test sets; it can go away and come back at the same address."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.port = free_port()
        self.requests: list[Request] = []
        self.answer = answer
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                parts = urlsplit(self.path)
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length)) if length else {}
                request = Request(self.command, parts.path, parse_qs(parts.query), dict(self.headers), body)
                outer.requests.append(request)
                status, content = outer.answer(request)
                data = b"" if content is None else json.dumps(content).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(data)))
                    if content is not None:
                        self.send_header("Content-Type", "application/json")
                    for name, value in outer.headers_of(request).items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    # The client has closed the connection.
                    self.close_connection = True

            do_GET = do_POST = _serve

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def headers_of(self, request: Request) -> dict[str, str]:
        return {}

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class Decider(Server):
    """The external service: allows everything unless a test says otherwise."""

    def __init__(self) -> None:
        super().__init__(lambda request: (204, None))

    def asked(self, what: str, lease_id: str | None = None) -> list[Document]:
        """Return the bodies of the requests of one kind, oldest first."""
        return [
            request.body
            for request in list(self.requests)
            if request.path.endswith(what) and lease_id in (None, request.body["lease"].get("id"))
        ]

    def hears(self, what: str, lease_id: str | None = None, limit: float = 20) -> bool:
        """Wait for such a request and return whether it came."""
        return wait_until(lambda: bool(self.asked(what, lease_id)), limit)


class Keystone(Server):
    """Tokens by password, and unified limits of one service.

    :ivar limits: (project id, or None for registered limits; name) -> limit
    """

    def __init__(self) -> None:
        self.limits: dict[tuple[str | None, str], int] = {}
        super().__init__(self._answer)

    def headers_of(self, request: Request) -> dict[str, str]:
        return {"X-Subject-Token": "token-of-the-service"} if request.path.endswith("/auth/tokens") else {}

    def _answer(self, request: Request) -> Answer:
        version = {
            "id": "v3.14",
            "status": "stable",
            "updated": "2020-04-07T00:00:00Z",
            "links": [{"rel": "self", "href": f"{self.url}/v3/"}],
            "media-types": [],
        }
        service = {"id": "reservation-service", "type": "reservation", "name": "lease-scheduler", "links": {}}
        endpoint = {
            "id": "reservation-endpoint",
            "service_id": "reservation-service",
            "interface": "public",
            "region_id": None,
            "url": "http://127.0.0.1/",
        }
        answers: dict[str, Callable[[], Answer]] = {
            "": lambda: (300, {"versions": {"values": [version]}}),
            "/v3": lambda: (200, {"version": version}),
            "/v3/auth/tokens": self._token,
            "/v3/limits/model": lambda: (200, {"model": {"name": "flat", "description": ""}}),
            "/v3/services": lambda: (200, {"services": [service], "links": {}}),
            "/v3/endpoints": lambda: (200, {"endpoints": [endpoint], "links": {}}),
            "/v3/endpoints/reservation-endpoint": lambda: (200, {"endpoint": endpoint}),
            "/v3/registered_limits": lambda: (200, {"registered_limits": self._limits(None), "links": {}}),
            "/v3/limits": lambda: (200, {"limits": self._limits(request.query["project_id"][0]), "links": {}}),
        }
        return answers.get(request.path.rstrip("/"), lambda: (404, {"error": {"message": request.path}}))()

    def _limits(self, project_id: str | None) -> list[Document]:
        key = "default_limit" if project_id is None else "resource_limit"
        return [
            {"id": name, "service_id": "reservation-service", "resource_name": name, key: limit}
            for (owner, name), limit in self.limits.items()
            if owner == project_id
        ]

    def _token(self) -> Answer:
        interfaces = [
            {"id": name, "interface": name, "region": None, "region_id": None, "url": f"{self.url}/v3"}
            for name in ("public", "internal", "admin")
        ]
        token = {
            "methods": ["password"],
            "user": {"id": "u", "name": "scheduler", "domain": {"id": "default", "name": "Default"}},
            "project": {"id": "p", "name": "service", "domain": {"id": "default", "name": "Default"}},
            "roles": [],
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "expires_at": "2099-01-01T00:00:00.000000Z",
            "catalog": [{"id": "identity", "type": "identity", "name": "keystone", "endpoints": interfaces}],
        }
        return 201, {"token": token}

    def credentials(self) -> str:
        """Return configuration lines with the credentials."""
        return (
            f"auth_type = password\nauth_url = {self.url}\nusername = scheduler\npassword = secret\n"
            "project_name = service\nuser_domain_id = default\nproject_domain_id = default\n"
        )
