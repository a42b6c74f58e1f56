"""Lists of all servers or flavors that satisfy a query, page by page. Nova returns a limited number at once."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from novaclient.exceptions import BadRequest

#: Most things that may be deleted at the ends of pages while one list is read. A Nova that lists something and then
#: knows nothing of it, again and again, must not be asked for ever.
_MOST_DELETED = 20


def all_servers(nova: Any, **query: object) -> list[Any]:
    """Return the servers of all projects that satisfy a query, as novaclient's objects.

    This takes one request a page. Nova says whether there is another page, but novaclient, when it lists all, always
    requests one more and finds it empty.

    :param query: parameters of Nova's API, such as ``host`` or ``tags``
    """
    return _all(nova, nova.servers, "servers", {"all_tenants": 1, **query})


def all_flavors(nova: Any, *, is_public: bool | None = None) -> list[Any]:
    """Return all flavors, as novaclient's objects; novaclient itself returns only the first page.

    :param is_public: whether they are for everybody; None for all
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
            # What the page follows was deleted in the meantime, so the page follows what is before it.
            found.pop()
            deleted += 1
            continue
        found += [manager.resource_class(manager, each, loaded=True) for each in page[kind]]
        if not page.get(f"{kind}_links"):
            return found
