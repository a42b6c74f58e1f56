"""The ends of leases in the metadata of aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.lease.aggregate_metadata import LeaseAggregates
from lease_scheduler.cloud.nova.lease.ends import Ends

_LEASE = "0a6a5f3b-26d2-4a3f-a8b1-2f9d9b6d2c11"


class FakeAggregates:
    """Aggregates by number, as novaclient returns them."""

    def __init__(self) -> None:
        self.made: dict[int, SimpleNamespace] = {}
        self.written = 0
        self.after_write: Callable[[], None] = lambda: None

    def add(self, name: str, **metadata: str) -> None:
        number = len(self.made) + 1
        said = {key.replace("__", ":"): value for key, value in metadata.items()}
        self.made[number] = SimpleNamespace(id=number, name=name, hosts=[], metadata=said, availability_zone=None)

    def list(self) -> list[SimpleNamespace]:
        return list(self.made.values())

    def get(self, number: int) -> SimpleNamespace:
        return self.made[number]

    def set_metadata(self, aggregate: SimpleNamespace, metadata: Mapping[str, Any]) -> None:
        self.written += 1
        for key, value in metadata.items():
            if value is None:
                aggregate.metadata.pop(key, None)
            else:
                aggregate.metadata[key] = value
        self.after_write()

    def ends(self) -> set[str | None]:
        return {each.metadata.get("lease:until") for each in self.made.values()}


@pytest.fixture
def nova() -> FakeAggregates:
    """The aggregates of a lease that shares hosts, and of its reservation."""
    made = FakeAggregates()
    made.add(f"lease-{_LEASE}-shared", lease__id=_LEASE, **{"lease__reservation:0": "r1"})
    made.add("r1", lease__id=_LEASE, lease__reservation="r1")
    return made


@pytest.fixture
def ends(nova: FakeAggregates) -> Ends:
    aggregates = Aggregates(SimpleNamespace(aggregates=nova))
    return Ends(aggregates, LeaseAggregates(aggregates))


def test_every_aggregate_of_a_lease_says_the_end(nova: FakeAggregates, ends: Ends) -> None:
    ends.tell({_LEASE: 1_000, "none": 5})
    assert nova.ends() == {"1000"}
    ends.tell({_LEASE: 1_000})
    assert nova.written == 2
    ends.open(_LEASE, ["r1"])
    assert nova.ends() == {None}


def test_what_an_order_writes_late_is_not_an_end_of_the_past(nova: FakeAggregates, ends: Ends) -> None:
    """An order that was given before the end changed is carried out afterwards, as after an outage of Nova."""
    ends.tell({_LEASE: 1_000})
    ends.tell({_LEASE: 2_000})
    ends.write(_LEASE, ["r1"])
    assert nova.ends() == {"2000"}


def test_the_latest_end_stays_whoever_writes_last(nova: FakeAggregates, ends: Ends) -> None:
    """It changes between the decision what to write and the write itself."""

    def extend() -> None:
        nova.after_write = lambda: None
        ends._latest[_LEASE] = 3_000

    nova.after_write = extend
    ends.tell({_LEASE: 1_000})
    assert nova.ends() == {"3000"}


def test_many_are_compared_before_any_is_written(nova: FakeAggregates, ends: Ends) -> None:
    """As when an engine takes over."""
    ends.tell({_LEASE: 1_000})
    written = nova.written
    many: dict[str, int | None] = {str(number): number for number in range(20)}
    ends.tell({_LEASE: 1_000, **many})
    assert nova.written == written
    ends.tell({_LEASE: 1_001, **many})
    assert nova.ends() == {"1001"}
