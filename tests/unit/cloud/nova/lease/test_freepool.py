"""The pool's aggregate, and a name that belongs to another aggregate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.lease.freepool import Freepool
from lease_scheduler.model.errors import InvalidValueError


class _Nova:
    """Aggregates as Nova has them; also stands in for novaclient's ``aggregates``."""

    def __init__(self, **aggregates: list[str]) -> None:
        self.made = [
            SimpleNamespace(id=number, name=name, hosts=list(hosts), metadata={}, availability_zone=None)
            for number, (name, hosts) in enumerate(aggregates.items(), start=1)
        ]
        self.aggregates = self
        self.list: Callable[[], Sequence[SimpleNamespace]] = lambda: tuple(self.made)

    def get(self, number: int) -> SimpleNamespace:
        return next(each for each in self.made if each.id == number)

    def create(self, name: str, zone: str | None) -> SimpleNamespace:
        found = SimpleNamespace(id=len(self.made) + 1, name=name, hosts=[], metadata={}, availability_zone=zone)
        self.made.append(found)
        return found

    def delete(self, found: Any) -> None:
        self.made = [each for each in self.made if each.id != found.id]

    @staticmethod
    def add_host(found: Any, host: str) -> None:
        found.hosts.append(host)

    @staticmethod
    def remove_host(found: Any, host: str) -> None:
        found.hosts.remove(host)

    @staticmethod
    def set_metadata(found: Any, metadata: dict[str, str]) -> None:
        found.metadata.update(metadata)

    def hosts(self) -> dict[str, list[str]]:
        return {each.name: sorted(each.hosts) for each in self.made}


def _freepool(nova: _Nova, name: str = "freepool") -> Freepool:
    return Freepool(Aggregates(nova), name)


def test_it_is_made_or_taken_over_when_hosts_come_into_the_pool() -> None:
    """Blazar or an operator has created one."""
    for nova in (_Nova(ssd=["one"]), _Nova(ssd=["one"], freepool=["one", "two"])):
        freepool = _freepool(nova)
        assert freepool.mistake() is None
        freepool.keep(["one"], list)
        assert nova.hosts() == {"ssd": ["one"], "freepool": ["one"]}
        assert freepool.hosts() == {"one"}
        freepool.remove()
        assert nova.hosts() == {"ssd": ["one"]}
        # Twice.
        freepool.remove()


@pytest.mark.parametrize("name", ["ssd", "nowhere"])
def test_a_wrong_name_changes_nothing(name: str) -> None:
    """As with a configuration file of another cloud, or a misspelt option."""
    nova = _Nova(ssd=["one", "two"])
    _freepool(nova).keep(["three"], list)
    before = nova.hosts()
    wrong = _freepool(nova, name)
    assert wrong.mistake() == (
        f"the pool is aggregate freepool (lease:pool=true) and not {name}; name that one, or rename it"
    )
    for pool in (["three"], []):
        with pytest.raises(InvalidValueError, match="aggregate_freepool_name"):
            wrong.keep(pool, list)
    with pytest.raises(InvalidValueError, match="aggregate_freepool_name"):
        wrong.remove()
    # Its hosts are not considered hosts of the pool.
    assert wrong.hosts() == frozenset()
    assert nova.hosts() == before


def test_what_servers_without_a_lease_are_promised_replaces_what_they_were() -> None:
    nova = _Nova(freepool=["one"])
    pool = _freepool(nova)
    nova.made[0].metadata = {"lease:next:0": "7 one", "lease:assured:7": "0.5 60 two"}
    pool.promise({0.9: {"one": 3_600}}, 5_000)
    said = {key: value for key, value in nova.made[0].metadata.items() if value is not None}
    assert said == {
        "lease:next:0": "7 one",
        "lease:assured:0": "0.9 3600 one",
        "lease:assured_until": "5000",
        "lease:assured_default": "0.9",
    }
    pool.promise({}, 6_000)
    assert {key for key, value in nova.made[0].metadata.items() if value is not None} == {"lease:next:0"}
    _freepool(_Nova()).promise({0.9: {"one": 60}}, 5_000)
