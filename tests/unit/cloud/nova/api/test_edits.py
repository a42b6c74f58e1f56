"""Detection of edited aggregates of ours."""

from __future__ import annotations

import pytest

from lease_scheduler.cloud.nova.api.edits import Edits
from lease_scheduler.cloud.observations import AggregateChange
from tests.unit.cloud.nova.fakes import FakeNova, aggregate

_LEASE = "3a5d0f6e-9c1b-4e53-8f39-52f0f3f5c1aa"
_NAME = f"lease-{_LEASE}"
_NODES = {"service1": "node1", "service2": "node2"}


@pytest.fixture
def nova() -> FakeNova:
    found = FakeNova()
    found.made = [
        aggregate(1, "freepool", ["service1", "service2"], lease__pool="true"),
        aggregate(2, _NAME, ["service1"], lease__id=_LEASE, lease__until="7"),
        aggregate(3, "zone", ["service1"]),
    ]
    return found


@pytest.fixture
def edits(nova: FakeNova) -> Edits:
    return Edits(nova, lambda: _NODES, "freepool")


def test_nothing_is_news_at_first(nova: FakeNova, edits: Edits) -> None:
    assert edits.look(nova.made) == []
    assert edits.look(nova.made) == []


def test_hosts_and_metadata(nova: FakeNova, edits: Edits) -> None:
    edits.look(nova.made)
    nova.made[0] = aggregate(1, "freepool", ["service1"], lease__pool="true")
    nova.made[1] = aggregate(2, _NAME, ["service1", "other"], lease__id=_LEASE, lease__until="8")
    nova.made[2] = aggregate(3, "zone", [])
    assert edits.look(nova.made) == [
        AggregateChange("freepool", None, frozenset({"node1"}), {"lease:pool": "true"}),
        AggregateChange(_NAME, _LEASE, frozenset({"node1", "other"}), {"lease:id": _LEASE, "lease:until": "8"}),
    ]
    assert edits.look(nova.made) == []


def test_whose_it_is_can_be_seen_from_the_name(nova: FakeNova, edits: Edits) -> None:
    edits.look(nova.made)
    nova.made[1] = aggregate(2, _NAME, ["service1"])
    assert edits.look(nova.made) == [AggregateChange(_NAME, _LEASE, frozenset({"node1"}), {})]
    nova.made[1] = aggregate(2, f"{_NAME}-shared", ["service1"])
    assert edits.look(nova.made) == [AggregateChange(f"{_NAME}-shared", _LEASE, frozenset({"node1"}), {})]


def test_those_that_are_gone_or_new(nova: FakeNova, edits: Edits) -> None:
    edits.look(nova.made)
    kept = nova.made
    nova.made = kept[2:]
    assert edits.look(nova.made) == [
        AggregateChange("freepool", None, exists=False),
        AggregateChange(_NAME, _LEASE, exists=False),
    ]
    nova.made = kept
    assert edits.look(nova.made) == []


def test_one_that_somebody_has_changed(nova: FakeNova, edits: Edits) -> None:
    edits.look(nova.made)
    assert edits.look_at(2) == []
    nova.made[1] = aggregate(2, _NAME, [], lease__id=_LEASE)
    changed = AggregateChange(_NAME, _LEASE, frozenset(), {"lease:id": _LEASE})
    assert edits.look_at(2) == [changed]
    # It is not reported again.
    assert edits.look_at(2) == []
    assert edits.look(nova.made) == []
    del nova.made[1]
    assert edits.look_at(2) == [AggregateChange(_NAME, _LEASE, exists=False)]
    assert edits.look_at(2) == []
    assert edits.look(nova.made) == []


def test_one_that_is_none_of_ours_or_was_not_known(nova: FakeNova, edits: Edits) -> None:
    assert edits.look_at(99) == []
    assert edits.look_at(3) == []
    known = AggregateChange(_NAME, _LEASE, frozenset({"node1"}), {"lease:id": _LEASE, "lease:until": "7"})
    assert edits.look_at(2) == [known]
