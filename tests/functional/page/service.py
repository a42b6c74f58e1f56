"""A stand-in for the API that serves the calendar page and the data that a test sets."""

from __future__ import annotations

import copy
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import lease_scheduler

PAGE = Path(lease_scheduler.__file__).parent / "api" / "page"
#: 2 March 2026, 12:00 UTC, a Monday.
NOW = 1_772_452_800
HOUR = 3600

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: The strictest policy with which the page works; a violation is an error on the console.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Document = dict[str, Any]


def host(number: int, state: str = "up") -> Document:
    """Return a host by its number."""
    return {"id": f"h{number}", "name": f"node-{number}", "state": state, "vcpus": 8, "memory_mb": 32_768}


def holding(start: int, end: int, hosts: list[int], resume: int = 0, suspend: int = 0) -> Document:
    """Return a holding of hosts between two hours, counted from now; resumption and suspension are in seconds."""
    first, last = NOW + start * HOUR, NOW + end * HOUR
    return {
        "start": first,
        "run_start": first + resume,
        "run_end": last - suspend,
        "end": last,
        "closing": "suspend" if suspend else "shutdown",
        "hosts": [f"h{number}" for number in hosts],
    }


def past(start: float, end: float, hosts: list[int], phase: str = "run") -> Document:
    """Return a past holding, in hours counted from now."""
    return {
        "start": NOW + round(start * HOUR),
        "end": NOW + round(end * HOUR),
        "phase": phase,
        "hosts": [f"h{number}" for number in hosts],
    }


def lease(name: str, kind: str, state: str, **values: Any) -> Document:
    """Return a lease whose id is made from its name."""
    holdings: list[Document] = values.get("holdings", [])
    return {
        "id": f"id-{name}",
        "name": name,
        "project_id": "physics",
        "kind": kind,
        "state": state,
        "reason": "",
        "submitted": NOW - 10 * HOUR,
        "start": holdings[0]["start"] if holdings else None,
        "end": holdings[-1]["end"] if holdings else None,
        "deadline": None,
        "offered_until": None,
        "nodes": len(holdings[0]["hosts"]) if holdings else 1,
        "preemptible": kind == "best-effort",
        "queue_position": None,
        "duration": None,
        "accumulated": 0,
        "may_change": True,
        "holdings": [],
        "past": [],
    } | values


class Service:
    """The data that the page gets, and a record of its requests.

    :ivar now: the server's instant
    :ivar broken: HTTP status with which every request for data is answered; 0 closes the connection without an answer
    :ivar token: the only token that is accepted; None accepts any
    :ivar login: what the service offers for logging in
    :ivar project: project of the caller; None if identity is not checked
    :ivar requests: path with query and headers of every request for data
    :ivar flows: flows that the caller may see
    :ivar lists: series, feeds and subscriptions of the project, by the last part of their path
    :ivar may_book: whether the caller may book leases
    :ivar may_approve: whether the caller may decide on leases that await approval
    :ivar use: number of hosts in use, and of those that can be used; by default those of the hosts and leases
    :ivar pools: pools that the caller may use, if the site has several
    :ivar sites: sites behind the gateway, if the service is one
    :ivar terms: further values of a lease that is asked for by itself, by its id
    :ivar elsewhere: number of leases in each state that are not in the calendar's period
    :ivar replies: status and body of the next answers to POST, by path; the last one stays
    :ivar posted: path and body of every POST
    """

    def __init__(self) -> None:
        self.now = NOW
        self.broken: int | None = None
        self.token: str | None = None
        self.login: Document = {"login": False}
        self.project: Document | None = None
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self.history: dict[str, list[Document]] = {}
        self.names: Document | None = None
        self.projects: list[Document] | None = None
        self.reservations: dict[str, list[Document]] = {}
        self.terms: dict[str, Document] = {}
        self.availability: Document | None = None
        self.flows: list[Document] = []
        self.lists: dict[str, list[Document]] = {}
        self.may_book = True
        self.may_approve = False
        self.use: tuple[int, int] | None = None
        self.pools: list[str] = []
        self.sites: list[Document] = []
        self.elsewhere: dict[str, int] = {}
        self.replies: dict[str, list[tuple[int, Document]]] = {}
        self.posted: list[tuple[str, Document]] = []
        self._hosts: list[Document] = []
        self._leases: dict[str, Document] = {}
        self._removed: dict[str, int] = {}
        self._revision = 1
        self._lock = threading.Lock()
        #: Set while the service answers; requests wait while it is clear.
        self.open = threading.Event()
        self.open.set()

    def set_hosts(self, hosts: list[Document]) -> None:
        """Replace the hosts."""
        with self._lock:
            self._hosts = hosts

    def put(self, *leases: Document) -> None:
        """Add leases or replace those of the same id."""
        with self._lock:
            for changed in leases:
                self._revision += 1
                self._leases[changed["id"]] = copy.deepcopy(changed) | {"revision": self._revision}

    def change(self, name: str, **values: Any) -> None:
        """Change a lease."""
        self.put(self._leases[f"id-{name}"] | values)

    def remove(self, name: str) -> None:
        """Remove a lease from the calendar."""
        with self._lock:
            self._revision += 1
            del self._leases[f"id-{name}"]
            self._removed[f"id-{name}"] = self._revision

    def restart_empty(self) -> None:
        """Continue with another database, whose revisions are lower."""
        with self._lock:
            self._leases.clear()
            self._removed.clear()
            self._revision = 0

    def paths(self) -> list[str]:
        """Return the requested paths."""
        return [path for path, _ in self.requests]

    def reply(self, path: str, query: Mapping[str, list[str]]) -> tuple[int, Document]:
        """Return status and body of the answer to a GET."""
        found = self._found(path, query)
        return (404, {"error_message": "Not found"}) if found is None else (200, found)

    def _found(self, path: str, query: Mapping[str, list[str]]) -> Document | None:
        parts = path.strip("/").split("/")
        if parts == ["v1", "calendar"]:
            return self._calendar(query)
        if parts == ["v1", "availability"]:
            return None if self.availability is None else {"availability": self.availability}
        if parts == ["v1", "projects"]:
            return None if self.projects is None else {"projects": self.projects}
        if parts[0] == "v1" and parts[-1] in self.lists:
            return {parts[-1]: self.lists[parts[-1]]}
        if parts == ["v1", "flows"]:
            return {"flows": self.flows}
        if parts[:2] == ["v1", "leases"] and len(parts) > 2:
            if parts[3:] == ["history"]:
                return {"history": self.history.get(parts[2], [])}
            if parts[3:] == ["names"]:
                return None if self.names is None else {"names": self.names}
            reservations = self.reservations.get(parts[2], [])
            return {"lease": {"id": parts[2], "reservations": reservations, **self.terms.get(parts[2], {})}}
        return None

    def post(self, path: str, body: Document) -> tuple[int, Document]:
        """Return status and body of the answer to a POST."""
        self.posted.append((path, body))
        replies = self.replies.get(path, [(404, {"error_message": "Not found"})])
        return replies.pop(0) if len(replies) > 1 else replies[0]

    def bodies(self, path: str) -> list[Document]:
        """Return the bodies that were sent to a path."""
        return [body for posted, body in self.posted if posted == path]

    def _calendar(self, query: Mapping[str, list[str]]) -> Document:
        since = int(query["since"][0]) if "since" in query else None
        with self._lock:
            return {
                "now": self.now,
                "revision": self._revision,
                "complete": since is None,
                "hosts": self._hosts if since is None else [],
                "leases": [one for one in self._leases.values() if since is None or one["revision"] > since],
                "removed": [one for one, revision in self._removed.items() if since is not None and revision > since],
                "project": self.project,
                **({"pools": self.pools} if self.pools else {}),
                **({"sites": self.sites} if self.sites else {}),
                "may_book": self.may_book,
                "may_approve": self.may_approve,
                "use": dict(zip(("held", "usable"), self.use or self._in_use(), strict=True)),
                "states": None if since == self._revision else self._states(),
            }

    def _in_use(self) -> tuple[int, int]:
        present = [each for one in self._leases.values() for each in one["holdings"] if each["start"] <= self.now]
        held = {number for each in present if self.now < each["end"] for number in each["hosts"]}
        known = {one["id"]: one["state"] for one in self._hosts}
        return len(held & known.keys()), sum(state == "up" or each in held for each, state in known.items())

    def _states(self) -> dict[str, int]:
        shown = Counter(one["state"] for one in self._leases.values() if one["kind"])
        return dict(shown + Counter(self.elsewhere))


class Handler(BaseHTTPRequestHandler):
    """Serves the page's files and the service's data."""

    protocol_version = "HTTP/1.1"
    service: Service

    def do_GET(self) -> None:
        """Answer one request."""
        url = urlsplit(self.path)
        if url.path.startswith("/v1/"):
            self._data(lambda service: service.reply(url.path, parse_qs(url.query)))
            return
        if url.path == "/login":
            self._json(200, self.service.login)
            return
        if url.path == "/blank":
            self._send(200, b'<!doctype html><title></title><link rel="icon" href="icon.svg">', "text/html")
            return
        path = PAGE / (url.path.lstrip("/") or "index.html")
        if path.parent == PAGE and path.is_file():
            self._send(200, path.read_bytes(), _TYPES[path.suffix])
        else:
            self._send(404, b"", "text/plain")

    def do_POST(self) -> None:
        """Answer one request that changes something."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._data(lambda service: service.post(self.path, body))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _data(self, reply: Callable[[Service], tuple[int, Document]]) -> None:
        service = self.service
        service.requests.append((self.path, dict(self.headers.items())))
        service.open.wait(20)
        if service.broken == 0:
            self.close_connection = True
            return
        if service.broken is not None:
            self._json(service.broken, {"error_message": "The engine rests."})
        elif service.token is not None and self.headers["X-Auth-Token"] != service.token:
            self._json(401, {"error_message": "Unauthorized"})
        else:
            self._json(*reply(service))

    def _json(self, status: int, body: Document) -> None:
        self._send(status, json.dumps(body).encode(), "application/json")

    def _send(self, status: int, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class Server:
    """Serves one service at a time, on a free loopback port."""

    def __init__(self) -> None:

        class BoundHandler(Handler):
            service = Service()

        self._handler = BoundHandler
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), BoundHandler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def use(self, service: Service) -> None:
        """Answer with the data of this service from now on."""
        self._handler.service = service

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
