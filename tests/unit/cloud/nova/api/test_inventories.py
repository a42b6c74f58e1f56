"""Detection of hosts whose size may have changed, with few requests."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lease_scheduler.cloud.nova.api.inventories import Inventories
from tests.unit.cloud.nova.fakes import FakePlacement


class Followed:
    def __init__(self) -> None:
        self.placement = FakePlacement("a", "b", "outside")
        self.pool = ["a", "b", "not there"]
        adapter, placement = cast(Any, self.placement), cast(Any, self.placement)
        self.inventories = Inventories(adapter, placement, lambda: self.pool)

    def change(self, name: str, total: int | None = None, traits: frozenset[str] | None = None) -> None:
        """Change something of a host; by default only its usage."""
        self.placement.generations[name] += 1
        if total is not None:
            self.placement.totals[name] = total
        if traits is not None:
            self.placement.held_traits[name] = traits

    def changed(self) -> set[str]:
        return set(self.inventories.changed())


@pytest.fixture
def followed() -> Followed:
    return Followed()


def test_all_are_news_at_first(followed: Followed) -> None:
    assert followed.changed() == {"a", "b"}
    assert followed.changed() == set()
    assert followed.placement.read == []


def test_another_total_or_trait(followed: Followed) -> None:
    followed.changed()
    followed.change("a", total=16)
    followed.change("outside", total=16)
    assert followed.changed() == {"a"}
    followed.change("a", total=8)
    assert followed.changed() == {"a"}
    followed.change("b", traits=frozenset({"CUSTOM_GPU"}))
    assert followed.changed() == {"b"}
    assert followed.placement.read == ["id of a", "id of a", "id of b"]


def test_what_is_taken_of_a_host_is_no_news_once_the_host_is_known(followed: Followed) -> None:
    followed.changed()
    followed.change("a")
    # Its size may have changed together with that.
    assert followed.changed() == {"a"}
    followed.change("a")
    assert followed.changed() == set()
    # A check in between that found no change loses nothing.
    assert followed.changed() == set()
    followed.change("a", total=16)
    assert followed.changed() == {"a"}


def test_a_disabled_service_is_told_otherwise(followed: Followed) -> None:
    followed.changed()
    followed.change("a")
    followed.changed()
    followed.change("a", traits=frozenset({"HW_CPU_X86_VMX", "COMPUTE_STATUS_DISABLED"}))
    assert followed.changed() == set()


def test_hosts_come_into_the_pool_and_leave_it(followed: Followed) -> None:
    followed.changed()
    followed.pool.append("outside")
    assert followed.changed() == {"outside"}
    followed.pool.clear()
    assert followed.changed() == set()
    followed.pool.append("a")
    assert followed.changed() == {"a"}


def test_what_could_not_be_read_or_told_is_told_the_next_time(followed: Followed) -> None:
    followed.changed()
    followed.change("a", total=16)
    followed.change("b", total=16)
    followed.placement.is_broken = True
    with pytest.raises(ConnectionError):
        followed.changed()
    followed.placement.is_broken = False
    assert followed.changed() == {"a", "b"}
    followed.inventories.forget(["b"])
    assert followed.changed() == {"b"}


def test_a_change_below_a_host_is_a_change_of_the_host(followed: Followed) -> None:
    """A GPU is added, becomes smaller and vanishes; what servers take of it is no news (issue 18)."""
    followed.changed()
    followed.placement.add("a/gpu0")
    assert followed.changed() == {"a"}
    followed.change("a/gpu0")
    assert followed.changed() == set()
    followed.change("a/gpu0", total=4)
    assert followed.changed() == {"a"}
    assert followed.placement.read[-1] == "id of a/gpu0"
    followed.placement.remove("a/gpu0")
    assert followed.changed() == {"a"}
    assert followed.changed() == set()
