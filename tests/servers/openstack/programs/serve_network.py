"""Stand in for Neutron: ``serve_network.py PORT``.

Nova calls it even for servers without a network: for security groups in each description of a server, and for ports
when it deletes one. It has nothing but floating IPs, which it remembers as Neutron does.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterable
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl

from waitress import serve

Answer = tuple[str, dict[str, Any] | None]

_FLOATING_IPS = "/v2.0/floatingips"


class Network:
    """The WSGI application."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._floating_ips: dict[str, dict[str, Any]] = {}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = json.loads(environ["wsgi.input"].read(length)) if length else {}
        path, method = environ["PATH_INFO"].rstrip("/"), environ["REQUEST_METHOD"]
        if path.startswith(_FLOATING_IPS):
            query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
            with self._lock:
                status, document = self._floating_ip(
                    method, path.removeprefix(_FLOATING_IPS).split("/")[1:], query, body
                )
        else:
            status = "200 OK" if method == "GET" else "404 Not Found"
            document = _nothing(path, environ["HTTP_HOST"])
        start_response(status, [("Content-Type", "application/json")])
        return [] if document is None else [json.dumps(document).encode()]

    def _floating_ip(self, method: str, words: list[str], query: dict[str, str], body: dict[str, Any]) -> Answer:
        if method == "POST":
            return self._create(body["floatingip"])
        if method == "GET" and not words:
            return "200 OK", {"floatingips": [each for each in self._floating_ips.values() if _matches(each, query)]}
        found = self._floating_ips.get(words[0])
        if found is None:
            return "404 Not Found", {"NeutronError": {"message": "there is no such floating IP"}}
        if method == "DELETE":
            del self._floating_ips[words[0]]
            return "204 No Content", None
        if method == "PUT" and words[1:] == ["tags"]:
            found["tags"] = body["tags"]
            return "200 OK", {"tags": found["tags"]}
        return "200 OK", {"floatingip": found}

    def _create(self, asked: dict[str, Any]) -> Answer:
        address = asked["floating_ip_address"]
        if any(each["floating_ip_address"] == address for each in self._floating_ips.values()):
            return "409 Conflict", {"NeutronError": {"message": f"{address} is in use"}}
        made = {"id": str(uuid.uuid4()), "tags": [], "status": "DOWN", **asked}
        self._floating_ips[made["id"]] = made
        return "201 Created", {"floatingip": made}


def _matches(found: dict[str, Any], query: dict[str, str]) -> bool:
    return all(value in found["tags"] if key == "tags" else found.get(key) == value for key, value in query.items())


def _nothing(path: str, host: str) -> dict[str, Any]:
    """Return an empty answer for a type of resource."""
    if not path:
        link = {"rel": "self", "href": f"http://{host}/v2.0/"}
        return {"versions": [{"id": "v2.0", "status": "CURRENT", "links": [link]}]}
    if path == "/v2.0":
        return {"resources": []}
    if path.startswith("/v2.0/quotas"):
        return {"quota": {"port": -1, "network": -1, "security_group": -1}}
    kind = path.rpartition("/")[2].removesuffix(".json").replace("-", "_")
    return {kind: []}


if __name__ == "__main__":
    serve(
        Network(),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        threads=4,
        connection_limit=5000,
        asyncore_use_poll=True,
    )
