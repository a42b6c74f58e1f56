"""Answers what Nova asks Neutron about servers that have no network: ``serve_network.py PORT``.

Nova asks even then: for security groups in each description of a server, for ports when it deletes one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from waitress import serve


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """There is nothing of any kind, and nothing can be made."""
    path = environ["PATH_INFO"].rstrip("/")
    status = "200 OK" if environ["REQUEST_METHOD"] == "GET" else "404 Not Found"
    start_response(status, [("Content-Type", "application/json")])
    return [json.dumps(_document(path, environ["HTTP_HOST"])).encode()]


def _document(path: str, host: str) -> dict[str, Any]:
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
        application,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        threads=4,
        connection_limit=5000,
        asyncore_use_poll=True,
    )
