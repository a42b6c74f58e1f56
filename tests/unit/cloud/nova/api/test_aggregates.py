"""An aggregate is read from Nova only once in a while, but never from the cache after a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from novaclient.exceptions import Conflict, NotFound

from lease_scheduler.cloud.nova.api.aggregates import Aggregates


class FakeNova:
    """One aggregate, as novaclient returns it: each answer is a copy.

    :ivar asked: how often each was requested
    """

    def __init__(self) -> None:
        self.hosts: list[str] = ["one"]
        self.metadata: dict[str, str] = {}
        self.asked: Counter[str] = Counter()
        self.exists = True
        self.refuses = False
        self.aggregates = self

    def list(self) -> list[SimpleNamespace]:
        self.asked["list"] += 1
        return [self._value()] if self.exists else []

    def get(self, number: int) -> SimpleNamespace:
        assert number == 7
        self.asked["get"] += 1
        if not self.exists:
            raise NotFound(404)
        return self._value()

    def add_host(self, _: Any, host: str) -> SimpleNamespace:
        self.asked["add_host"] += 1
        if self.refuses or host in self.hosts:
            raise Conflict(409, "has it already")
        self.hosts.append(host)
        return self._value()

    def set_metadata(self, _: Any, metadata: Mapping[str, str]) -> SimpleNamespace:
        self.asked["set_metadata"] += 1
        if not self.exists:
            raise NotFound(404)
        self.metadata |= metadata
        return self._value()

    def _value(self) -> SimpleNamespace:
        hosts, metadata = list(self.hosts), dict(self.metadata)
        return SimpleNamespace(id=7, name="pool", hosts=hosts, metadata=metadata, availability_zone=None)


@pytest.fixture
def nova() -> FakeNova:
    return FakeNova()


@pytest.fixture
def aggregates(nova: FakeNova) -> Aggregates:
    found = Aggregates(nova)
    found.all()
    nova.asked.clear()
    return found


def _hosts(aggregates: Aggregates) -> set[str]:
    found = aggregates.find("pool")
    assert found is not None
    return set(found.hosts)


def test_same_question_is_not_asked_again(nova: FakeNova, aggregates: Aggregates) -> None:
    assert [_hosts(aggregates) for _ in range(5)] == [{"one"}] * 5
    assert nova.asked == {}


def test_what_was_written_is_seen_without_a_question(nova: FakeNova, aggregates: Aggregates) -> None:
    aggregates.add("pool", ["two"])
    aggregates.set_metadata("pool", {"a": "b"})
    found = aggregates.find("pool")
    assert found is not None
    assert found.hosts == {"one", "two"}
    assert found.metadata == {"a": "b"}
    assert nova.asked == {"add_host": 1, "set_metadata": 1}


def test_change_by_others_is_seen_when_it_is_told(nova: FakeNova, aggregates: Aggregates) -> None:
    nova.hosts = ["three"]
    aggregates.look_again("pool")
    assert _hosts(aggregates) == {"three"}


def test_change_by_others_is_seen_when_all_are_listed(nova: FakeNova, aggregates: Aggregates) -> None:
    nova.hosts = ["three"]
    aggregates.all()
    assert _hosts(aggregates) == {"three"}


def test_refusal_makes_it_look_again(nova: FakeNova, aggregates: Aggregates) -> None:
    """Another client has just added the host: that is not a refusal."""
    nova.hosts = ["one", "two"]
    assert aggregates.add("pool", ["two"]) == {}
    assert _hosts(aggregates) == {"one", "two"}
    nova.refuses = True
    assert aggregates.add("pool", ["three"]) == {"three": "has it already"}


def test_one_that_others_removed_is_found_missing_after_the_first_failure(
    nova: FakeNova, aggregates: Aggregates
) -> None:
    nova.exists = False
    with pytest.raises(NotFound):
        aggregates.set_metadata("pool", {"a": "b"})
    assert aggregates.find("pool") is None


def test_what_another_engine_made_is_found_when_this_one_leads_again() -> None:
    """A lease without its aggregate has no servers: its end would leave them where they are."""
    nova = FakeNova()
    nova.exists = False
    aggregates = Aggregates(nova)
    assert aggregates.find("pool") is None
    nova.exists = True
    assert aggregates.find("pool") is None

    aggregates.forget()

    assert _hosts(aggregates) == {"one"}
