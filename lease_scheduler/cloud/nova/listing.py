"""List of all servers that satisfy a query, page by page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode


def all_servers(nova: Any, **query: object) -> list[Any]:
    """Return the servers of all projects that satisfy a query, as novaclient's objects.

    This takes one request a page. Nova says whether there is another page, but novaclient, when it lists all, always
    requests one more and finds it empty.

    :param query: parameters of Nova's API, such as ``host`` or ``tags``
    """
    found: list[Any] = []
    wanted = {"all_tenants": 1, **query}
    while True:
        _, page = nova.client.get(f"/servers/detail?{urlencode(wanted)}")
        found += [nova.servers.resource_class(nova.servers, each, loaded=True) for each in page["servers"]]
        if not page.get("servers_links"):
            return found
        wanted["marker"] = found[-1].id
