"""All servers that satisfy a query, page by page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode


def all_servers(nova: Any, **query: object) -> list[Any]:
    """Return novaclient's servers, of all projects, in as few requests as there are pages.

    Nova says itself whether there is another page; novaclient, told to list all, asks for one more each time to see
    that it is empty.

    :param query: as Nova's API has it, such as ``host`` or ``tags``
    """
    found: list[Any] = []
    wanted = {"all_tenants": 1, **query}
    while True:
        _, page = nova.client.get(f"/servers/detail?{urlencode(wanted)}")
        found += [nova.servers.resource_class(nova.servers, each, loaded=True) for each in page["servers"]]
        if not page.get("servers_links"):
            return found
        wanted["marker"] = found[-1].id
