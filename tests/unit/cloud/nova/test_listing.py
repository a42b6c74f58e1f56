"""All servers, with one request per page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from lease_scheduler.cloud.nova.listing import all_servers


class _Nova:
    """Has servers, and lists some of them at a time, as ``[api] max_limit`` says."""

    def __init__(self, servers: int, most: int) -> None:
        self._ids = [f"server-{number}" for number in range(servers)]
        self._most = most
        self.asked: list[dict[str, str]] = []
        self.client = SimpleNamespace(get=self._get)
        self.servers = SimpleNamespace(resource_class=lambda manager, each, loaded: SimpleNamespace(**each))

    def _get(self, url: str) -> tuple[None, dict[str, Any]]:
        parts = urlsplit(url)
        assert parts.path == "/servers/detail"
        self.asked.append(dict(parse_qsl(parts.query)))
        marker = self.asked[-1].get("marker")
        first = 0 if marker is None else self._ids.index(marker) + 1
        page = self._ids[first : first + self._most]
        # When a page is full, Nova does not know whether it is the last one.
        links = [{"rel": "next", "href": "https://nova/..."}] if len(page) == self._most else []
        return None, {"servers": [{"id": each} for each in page], **({"servers_links": links} if links else {})}


@pytest.mark.parametrize(("servers", "most", "requests"), [(0, 3, 1), (2, 3, 1), (3, 3, 2), (7, 3, 3)])
def test_every_page_is_asked_for_and_no_other(servers: int, most: int, requests: int) -> None:
    nova = _Nova(servers, most)
    found = all_servers(nova, tags="lease:a b", deleted=True)
    assert [each.id for each in found] == [f"server-{number}" for number in range(servers)]
    assert len(nova.asked) == requests
    for each in nova.asked:
        assert {key: each[key] for key in ("all_tenants", "tags", "deleted")} == {
            "all_tenants": "1",
            "tags": "lease:a b",
            "deleted": "True",
        }
