"""Complete lists of the servers or flavors that satisfy a query. Nova returns them page by page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from novaclient.exceptions import BadRequest

#: Maximum number of times that the last entry of a page may be deleted before the next page is read. Without a bound, a
#: Nova that lists an entry and then does not know it would be asked forever.
_MOST_DELETED = 20


def all_servers(nova: Any, **query: object) -> list[Any]:
    """Return the servers of all projects that satisfy a query, as novaclient's objects.

    This takes one request a page. novaclient would take one more, as it does not see that Nova has no further page.

    :param query: parameters of Nova's API, such as ``host`` or ``tags``
    """
    return _all(nova, nova.servers, "servers", {"all_tenants": 1, **query})


def all_flavors(nova: Any, *, is_public: bool | None = None) -> list[Any]:
    """Return all flavors, as novaclient's objects; novaclient itself returns only the first page.

    :param is_public: whether to return public or private flavors; None for both
    """
    return _all(nova, nova.flavors, "flavors", {"is_public": is_public})


def _all(nova: Any, manager: Any, kind: str, query: dict[str, object]) -> list[Any]:
    found: list[Any] = []
    deleted = 0
    while True:
        after = {"marker": found[-1].id} if found else {}
        try:
            _, page = nova.client.get(f"/{kind}/detail?{urlencode({**query, **after})}")
        except BadRequest:
            if not found or deleted == _MOST_DELETED:
                raise
            # The last known entry was deleted meanwhile, so ask for the page after the entry before it.
            found.pop()
            deleted += 1
            continue
        found += [manager.resource_class(manager, each, loaded=True) for each in page[kind]]
        if not page.get(f"{kind}_links"):
            return found
