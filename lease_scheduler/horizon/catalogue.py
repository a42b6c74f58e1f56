"""Where browsers reach the calendar page, as the service catalogue of a token says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

SERVICE_TYPE = "reservation"

_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Ends an endpoint of Blazar; the page is at the root of the service.
_VERSION = re.compile(r"/v\d+$")


def page_url(catalogue: Iterable[Mapping[str, Any]], region: str | None) -> str | None:
    """Return the URL of the page in a region, or None if the catalogue has none that browsers can open.

    :param catalogue: services of a token, as Keystone's API describes them
    :param region: id of the region
    """
    for service in catalogue:
        if service.get("type") == SERVICE_TYPE:
            for endpoint in service.get("endpoints", ()):
                if endpoint.get("interface") == "public" and _region_of(endpoint) == region:
                    return _page_of(str(endpoint.get("url", "")))
    return None


def origin_of(url: str) -> str:
    """Return the origin of a URL that ``page_url`` has returned, as browsers write it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{_host(parts)}"


def _region_of(endpoint: Mapping[str, Any]) -> Any:
    return endpoint.get("region_id") or endpoint.get("region")


def _page_of(endpoint: str) -> str | None:
    try:
        parts = urlsplit(endpoint)
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
            return None
        host = _host(parts)
    except ValueError:
        return None
    path = _VERSION.sub("", parts.path.rstrip("/"))
    return f"{parts.scheme}://{host}{path}/"


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    return host if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{host}:{parts.port}"
