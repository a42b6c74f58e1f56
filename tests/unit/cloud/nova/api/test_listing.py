"""All servers and flavors, with one request per page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from novaclient.exceptions import BadRequest, ClientException

from lease_scheduler.cloud.nova.api.listing import all_flavors, all_servers


class _Nova:
    """Has servers or flavors, and lists some of them at a time, as ``[api] max_limit`` says.

    :ivar ids: those that it has
    :ivar deleted: after how many requests which of them are deleted
    """

    def __init__(self, kind: str, count: int, most: int) -> None:
        self.ids = [f"{kind}-{number}" for number in range(count)]
        self._kind, self._most = kind, most
        self.deleted: dict[int, set[str]] = {}
        self.asked: list[dict[str, str]] = []
        self.client = SimpleNamespace(get=self._get)
        self.servers = self.flavors = SimpleNamespace(
            resource_class=lambda manager, each, loaded: SimpleNamespace(**each)
        )

    def _get(self, url: str) -> tuple[None, dict[str, Any]]:
        parts = urlsplit(url)
        assert parts.path == f"/{self._kind}/detail"
        gone = self.deleted.get(len(self.asked), set())
        self.ids = [each for each in self.ids if each not in gone]
        self.asked.append(dict(parse_qsl(parts.query)))
        marker = self.asked[-1].get("marker")
        if marker is not None and marker not in self.ids:
            raise BadRequest(400, f"marker [{marker}] not found")
        first = 0 if marker is None else self.ids.index(marker) + 1
        page = self.ids[first : first + self._most]
        # When a page is full, Nova does not know whether it is the last one.
        links = [{"rel": "next", "href": "https://nova/..."}] if len(page) == self._most else []
        more = {f"{self._kind}_links": links} if links else {}
        return None, {self._kind: [{"id": each} for each in page], **more}


@pytest.mark.parametrize(("servers", "most", "requests"), [(0, 3, 1), (2, 3, 1), (3, 3, 2), (7, 3, 3)])
def test_every_page_is_asked_for_and_no_other(servers: int, most: int, requests: int) -> None:
    nova = _Nova("servers", servers, most)
    found = all_servers(nova, tags="lease:a b", deleted=True)
    assert [each.id for each in found] == [f"servers-{number}" for number in range(servers)]
    assert len(nova.asked) == requests
    for each in nova.asked:
        assert {key: each[key] for key in ("all_tenants", "tags", "deleted")} == {
            "all_tenants": "1",
            "tags": "lease:a b",
            "deleted": "True",
        }


def test_flavors_are_more_than_a_page() -> None:
    """With a private flavor for each lease there are soon more than a thousand."""
    nova = _Nova("flavors", 7, 3)
    assert [each.id for each in all_flavors(nova)] == nova.ids
    assert [each["is_public"] for each in nova.asked] == ["None"] * 3
    all_flavors(nova, is_public=True)
    assert nova.asked[-1]["is_public"] == "True"


@pytest.mark.parametrize("gone", [{2}, {1, 2}, {0, 1, 2}, {2, 3}, {0, 6}], ids=str)
def test_what_is_deleted_while_it_is_listed_ends_no_list(gone: set[int]) -> None:
    """A lease that ends takes its flavor with it, which may be the last one of a page."""
    nova = _Nova("flavors", 7, 3)
    nova.deleted = {1: {f"flavors-{number}" for number in gone}}
    listed = {each.id for each in all_flavors(nova)}
    assert set(nova.ids) <= listed


def test_a_query_that_is_refused_is_an_error() -> None:
    nova = _Nova("servers", 1, 3)
    nova.client.get = lambda url: (_ for _ in ()).throw(BadRequest(400, "no such parameter"))
    with pytest.raises(ClientException, match="no such parameter"):
        all_servers(nova, nothing=1)


def test_a_nova_that_lists_what_it_does_not_know_is_not_asked_for_ever() -> None:
    nova = _Nova("servers", 3, 1)
    answer = nova.client.get
    asked: list[str] = []

    def get(url: str) -> Any:
        asked.append(url)
        if "marker=servers-2" in url:
            raise BadRequest(400, "marker [servers-2] not found")
        return answer(url)

    nova.client.get = get
    with pytest.raises(BadRequest, match="marker"):
        all_servers(nova)
    assert len(asked) < 50
