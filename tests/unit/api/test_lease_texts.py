"""What is kept of lists: nothing old, nothing that somebody else may see, and not without end."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.api.lease_texts import LeaseTexts
from lease_scheduler.api.microversions import MAXIMUM, MINIMUM, Version
from lease_scheduler.model.documents import Document
from lease_scheduler.records.json_text import from_json
from lease_scheduler.records.listing import LeaseEntry
from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site


class _Reader:
    """A reader of leases that remembers which ones were read."""

    def __init__(self, count: int) -> None:
        self.views = {name: self._view(name) for name in map(str, range(count))}
        self.read: list[str] = []

    def _view(self, name: str) -> Document:
        given = {"id": name, "project_id": "red", "revision": 1, "operation": None, "breaches": [], "idle_since": None}
        return {**given, "name": f"lease {name}"}

    def entries(self) -> list[LeaseEntry]:
        return [
            LeaseEntry(
                view["id"],
                view["project_id"],
                view["revision"],
                view["operation"],
                len(view["breaches"]),
                view["idle_since"],
            )
            for view in self.views.values()
        ]

    def leases_by_id(self, ids: list[str]) -> list[Document]:
        self.read += ids
        return [self.views[each] for each in reversed(ids) if each in self.views]


def _listed(
    texts: LeaseTexts,
    reader: Any,
    version: Version = MAXIMUM,
    with_hosts: bool = True,
    entries: list[LeaseEntry] | None = None,
) -> list[Document]:
    def show(view: Document) -> Document:
        return {**view, "shown_at": str(version), "hosts": with_hosts}

    found = reader.entries() if entries is None else entries
    return list(from_json(texts.listed(reader, found, version, lambda project: with_hosts, show)))


def test_only_what_has_changed_is_read_again() -> None:
    texts, reader = LeaseTexts(), _Reader(3)
    first = _listed(texts, reader)
    assert [lease["name"] for lease in first] == ["lease 0", "lease 1", "lease 2"]
    assert reader.read == ["0", "1", "2"]
    assert _listed(texts, reader) == first
    reader.views["1"] |= {"name": "renamed", "revision": 2}
    assert [lease["name"] for lease in _listed(texts, reader)] == ["lease 0", "renamed", "lease 2"]
    assert reader.read == ["0", "1", "2", "1"]


@pytest.mark.parametrize(
    "change", [{"operation": "start"}, {"breaches": [{"kind": "late"}]}, {"idle_since": 5}, {"revision": 2}]
)
def test_a_change_outside_the_row_of_the_lease_is_seen(change: Document) -> None:
    texts, reader = LeaseTexts(), _Reader(1)
    _listed(texts, reader)
    reader.views["0"] |= change
    (key,) = change
    assert _listed(texts, reader)[0][key] == change[key]


def test_texts_differ_by_microversion_and_by_who_may_see_hosts() -> None:
    texts, reader = LeaseTexts(), _Reader(1)
    for version in (MINIMUM, MAXIMUM, MINIMUM):
        for with_hosts in (True, False, True):
            (lease,) = _listed(texts, reader, version, with_hosts)
            assert (lease["shown_at"], lease["hosts"]) == (str(version), with_hosts)


def test_a_lease_that_changes_or_goes_while_it_is_read() -> None:
    texts, reader = LeaseTexts(), _Reader(3)
    entries = reader.entries()
    reader.views["0"] |= {"operation": "stop", "revision": 2}
    del reader.views["1"]
    assert [(lease["id"], lease["operation"]) for lease in _listed(texts, reader, entries=entries)] == [
        ("0", "stop"),
        ("2", None),
    ]
    reader.views["0"] |= {"operation": None, "revision": 1}
    assert _listed(texts, reader)[0]["operation"] is None


def test_the_cache_stays_within_its_size() -> None:
    reader = _Reader(40)
    texts = LeaseTexts(size=5_000)
    assert len(_listed(texts, reader)) == 40
    assert len(_listed(texts, reader)) == 40
    assert len(reader.read) > 40
    none = LeaseTexts(size=1)
    assert len(_listed(none, reader)) == 40


def test_a_list_is_what_the_leases_show_one_by_one(app: Any, site: Site) -> None:
    member = Client(app, "latest", roles="member")
    nodes = [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 1024}}]
    for name in ("a", "b"):
        made = member.post("/v1/leases", {"name": name, "kind": "best-effort", "duration": "1h", "nodes": nodes})
        assert made.status_code == 201, made.json
    for _ in range(2):
        answer = member.get("/v1/leases").json or {}
        assert len(answer["leases"]) == 2
        for lease in answer["leases"]:
            assert lease == (member.get(f"/v1/leases/{lease['id']}").json or {})["lease"]
        member.put(f"/v1/leases/{answer['leases'][0]['id']}", {"name": "changed"})
