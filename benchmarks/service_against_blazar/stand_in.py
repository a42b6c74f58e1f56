"""A stand-in for the parts of Keystone, Nova and Placement that Blazar calls, with equally fast answers to all calls.

Both services use it to validate tokens. It does not know the aggregates of leases that were copied into the database,
so its lists are shorter than Nova's would be. ``GET /calls`` returns how often it was called and how long it worked.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import uuid
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, Any]

_TIMES = {"issued_at": "2020-01-01T00:00:00.000000Z", "expires_at": "2099-01-01T00:00:00.000000Z"}
_DOMAIN = {"id": "default", "name": "Default"}
_INVENTORY = {"reserved": 0, "min_unit": 1, "step_size": 1, "allocation_ratio": 1.0}


class Cloud:
    """The state of the cloud.

    :param url: where it listens
    :param hosts: number of compute hosts, named ``compute-1`` and so on
    """

    def __init__(self, url: str, hosts: int) -> None:
        self._url = url
        self._hosts = hosts
        self._lock = Lock()
        self._aggregates: dict[int, dict[str, Any]] = {}
        self._next = 1
        self._providers: dict[str, str] = {}
        self._add_aggregate({"name": "freepool", "availability_zone": None})
        self.calls = 0
        self.seconds = 0.0

    def answer(self, method: str, target: str, body: Any) -> Answer:
        """Return the answer to a request."""
        begun = time.perf_counter()
        try:
            with self._lock:
                return self._answer(method, target, body)
        finally:
            self.calls += 1
            self.seconds += time.perf_counter() - begun

    def _answer(self, method: str, target: str, body: Any) -> Answer:
        parts = urlsplit(target)
        path = parts.path.rstrip("/")
        routes: list[tuple[str, Callable[..., Answer]]] = [
            ("/v3", lambda: (200, {"version": self._version()})),
            ("", lambda: (300, {"versions": {"values": [self._version()]}})),
            ("/v3/auth/tokens", lambda: (201 if method == "POST" else 200, {"token": self._token()})),
            ("/v3/OS-TRUST/trusts", lambda: (201, {"trust": {"id": uuid.uuid4().hex, **_TIMES}})),
            (r"/compute/os-hypervisors/([^/]+)/(?:search|servers)", self._found_hypervisor),
            (r"/compute/os-hypervisors/(\d+)", lambda number: (200, {"hypervisor": self._hypervisor(int(number))})),
            ("/compute/os-availability-zone/detail", lambda: (200, {"availabilityZoneInfo": []})),
            ("/compute/servers(?:/detail)?", lambda: (200, {"servers": []})),
            ("/compute/os-aggregates", lambda: self._all_aggregates(method, body)),
            (r"/compute/os-aggregates/(\d+)", lambda number: self._aggregate(method, int(number))),
            (r"/compute/os-aggregates/(\d+)/action", lambda number: self._act(int(number), body)),
            ("/compute/flavors", lambda: (200, {"flavor": self._flavor(body["flavor"])})),
            ("/compute/flavors/[^/]+", lambda: (202, None)),
            ("/compute/flavors/[^/]+/os-extra_specs", lambda: (200, body)),
            ("/compute/flavors/[^/]+/action", lambda: (200, {"flavor_access": []})),
            ("/placement/resource_classes", lambda: (201, {})),
            ("/placement/resource_classes/[^/]+", lambda: (204, None)),
            ("/placement/resource_providers/[^/]+/inventories/[^/]+", lambda: (204, None)),
            ("/placement/resource_providers", lambda: self._provider(method, parts.query, body)),
            ("/placement/resource_providers/[^/]+/inventories", lambda: (200, self._inventories())),
            ("/placement/resource_providers/[^/]+/traits", lambda: (200, {"traits": ["HW_CPU_X86_AVX2"]})),
        ]
        for pattern, answer in routes:
            if match := re.fullmatch(pattern, path):
                return answer(*match.groups())
        return 404, {"error": {"code": 404, "message": target}}

    def _version(self) -> dict[str, Any]:
        links = [{"rel": "self", "href": f"{self._url}/v3/"}]
        return {"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z", "links": links}

    def _token(self) -> dict[str, Any]:
        catalog = [
            {
                "type": kind,
                "name": kind,
                "id": kind,
                "endpoints": [
                    {"id": f"{kind}-{each}", "interface": each, "region": "one", "region_id": "one", "url": url}
                    for each in ("public", "internal", "admin")
                ],
            }
            for kind, url in (
                ("identity", f"{self._url}/v3"),
                ("compute", f"{self._url}/compute"),
                ("placement", f"{self._url}/placement"),
            )
        ]
        return {
            "methods": ["password"],
            "user": {"id": "user", "name": "user", "domain": _DOMAIN},
            "project": {"id": "project", "name": "project", "domain": _DOMAIN},
            "roles": [{"id": name, "name": name} for name in ("admin", "member", "reader")],
            "audit_ids": ["benchmark"],
            "catalog": catalog,
            **_TIMES,
        }

    def _flavor(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"swap": "", "OS-FLV-EXT-DATA:ephemeral": 0, "extra_specs": {}, **asked}

    def _hypervisor(self, number: int) -> dict[str, Any]:
        name = f"compute-{number}"
        return {
            "id": number,
            "hypervisor_hostname": name,
            "hypervisor_type": "QEMU",
            "hypervisor_version": 8_000_000,
            "service": {"host": name, "id": number},
            "cpu_info": "{}",
            "vcpus": 8,
            "memory_mb": 32_768,
            "local_gb": 500,
        }

    def _found_hypervisor(self, name: str) -> Answer:
        number = int(name.rpartition("-")[2])
        if not 1 <= number <= self._hosts:
            return 404, {"itemNotFound": {"code": 404, "message": name}}
        return 200, {"hypervisors": [self._hypervisor(number)]}

    def _add_aggregate(self, values: dict[str, Any]) -> dict[str, Any]:
        number, self._next = self._next, self._next + 1
        made = {"id": number, "hosts": [], "metadata": {}, **values}
        self._aggregates[number] = made
        return made

    def _all_aggregates(self, method: str, body: Any) -> Answer:
        if method == "POST":
            return 200, {"aggregate": self._add_aggregate(body["aggregate"])}
        return 200, {"aggregates": list(self._aggregates.values())}

    def _aggregate(self, method: str, number: int) -> Answer:
        found = self._aggregates.get(number)
        if found is None:
            return 404, {"itemNotFound": {"code": 404, "message": f"aggregate {number}"}}
        if method == "DELETE":
            del self._aggregates[number]
        return 200, {"aggregate": found}

    def _act(self, number: int, body: Any) -> Answer:
        aggregate = self._aggregates[number]
        if "set_metadata" in body:
            aggregate["metadata"].update(body["set_metadata"]["metadata"])
        elif "add_host" in body:
            aggregate["hosts"].append(body["add_host"]["host"])
        elif "remove_host" in body:
            aggregate["hosts"].remove(body["remove_host"]["host"])
        return 200, {"aggregate": aggregate}

    def _provider(self, method: str, query: str, body: Any) -> Answer:
        name = body["name"] if method == "POST" else parse_qs(query)["name"][0]
        found = {"name": name, "uuid": self._providers.setdefault(name, str(uuid.uuid4())), "generation": 0}
        return 200, found if method == "POST" else {"resource_providers": [found]}

    def _inventories(self) -> dict[str, Any]:
        totals = {"VCPU": 8, "MEMORY_MB": 32_768, "DISK_GB": 500}
        found = {name: {"total": total, "max_unit": total, **_INVENTORY} for name, total in totals.items()}
        return {"inventories": found, "resource_provider_generation": 0}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    cloud: Cloud


class _Handler(BaseHTTPRequestHandler):
    """The HTTP front end of the cloud. Each answer is one packet, so that no client waits for a second one."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        cloud = self.server.cloud
        if self.path == "/calls":
            status, answer = 200, {"calls": cloud.calls, "seconds": cloud.seconds}
        else:
            status, answer = cloud.answer(self.command, self.path, json.loads(content) if content else None)
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if self.path.startswith("/v3/auth/tokens"):
            self.send_header("X-Subject-Token", uuid.uuid4().hex)
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_DELETE = _serve

    def log_message(self, format: str, *args: Any) -> None:
        return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--hosts", type=int, required=True)
    given = parser.parse_args()
    server = _Server(("127.0.0.1", given.port), _Handler)
    server.cloud = Cloud(f"http://127.0.0.1:{given.port}", given.hosts)
    server.serve_forever()


if __name__ == "__main__":
    main()
