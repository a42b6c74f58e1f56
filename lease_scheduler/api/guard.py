"""Protection of a service that checks no identity against web pages of other sites.

Any client that reaches such a service may do everything, so it listens on this machine only. A browser on this machine
reaches it as well, on behalf of any page that it shows: a site can make its own name resolve to 127.0.0.1 (DNS
rebinding), and can send a form anywhere. Two headers that the browser itself sets reveal this: ``Host`` has the name
by which the service was reached, and ``Origin`` the site of the page.
"""

from __future__ import annotations

import ipaddress
import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from lease_scheduler.api.errors import FrameworkError
from lease_scheduler.api.microversions import MINIMUM, SERVICE_TYPE

Application = Callable[..., Iterable[bytes]]


class LocalOnly:
    """WSGI middleware that answers 403 to requests that pages of other sites may have caused.

    :param app: answers all other requests
    :param names: further names by which the service may be reached, without port
    """

    def __init__(self, app: Application, names: Iterable[str] = ()) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a WSGI request."""
        problem = self._problem(environ.get("HTTP_HOST"), environ.get("HTTP_ORIGIN"))
        if problem is None:
            return self._app(environ, start_response)
        body = json.dumps(FrameworkError(403, problem).body()).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("OpenStack-API-Version", f"{SERVICE_TYPE} {MINIMUM}"),
            ("Vary", "OpenStack-API-Version"),
            ("X-Openstack-Request-Id", f"req-{uuid.uuid4()}"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        start_response("403 FORBIDDEN", headers)
        return [body]

    def _problem(self, host: str | None, origin: str | None) -> str | None:
        # A browser always sends Host; only HTTP 1.0 clients leave it out.
        if host is not None and not self._is_ours(_name_of(f"//{host}")):
            return (
                f"Host: {host[:80]!a} is not a name of this machine; use 127.0.0.1 or localhost, "
                "or add the name to [api] allowed_hosts"
            )
        if origin is not None and not self._may_ask(origin, host):
            return f"Origin: pages of {origin[:80]!a} may not use this service, which checks nobody's identity"
        return None

    def _is_ours(self, name: str | None) -> bool:
        if name is None:
            return False
        if name == "localhost" or name in self._names:
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def _may_ask(self, origin: str, host: str | None) -> bool:
        """Return whether the page is served by this service, or by a name that the operator lists."""
        if host is not None and origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower()):
            return True
        return _name_of(origin) in self._names


def _name_of(url: str) -> str | None:
    """Return the host name or address in a URL, or None."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
