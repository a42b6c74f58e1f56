"""The work of simulated servers with shares of the CPU."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cloud.simulated_work import SimulatedWork


@pytest.fixture(name="work")
def _work() -> Iterator[SimulatedWork]:
    with closing(sqlite3.connect(":memory:")) as database:
        yield SimulatedWork(database)


def test_work_goes_on_as_fast_as_its_share_allows(work: SimulatedWork) -> None:
    """100 s of work: 40 at full speed, 30 in 60 s at half speed, nothing while it is interrupted, the rest alone."""
    work.go_on("a", 100, 0)
    assert work.next_end() == 100
    work.share(1, {"a": 0.5}, 40)
    assert work.next_end() == 160
    work.share(2, {"a": 0.7}, 40)
    assert work.next_end() == 126
    work.share(3, {"a": 0.5}, 40)
    work.pause("a", 100)
    assert work.next_end() is None
    work.go_on("a", 100, 500)
    work.share(4, {}, 500)
    assert work.next_end() == 530
    assert work.take_done(529) == []
    assert work.take_done(530) == ["a"]
    assert work.next_end() is None


def test_leases_that_are_absent_have_all_that_they_need(work: SimulatedWork) -> None:
    """Each call is the whole truth (``Driver.share``)."""
    work.share(1, {"a": 0.25, "b": 0.75}, 0)
    work.share(2, {"b": 0.5}, 0)
    assert work.shares() == {"b": 0.5}


def test_an_old_revision_is_ignored_and_the_same_one_may_be_repeated(work: SimulatedWork) -> None:
    """An order that was on its way when an engine died must not undo one of its successor."""
    work.share(7, {"a": 0.5}, 0)
    work.share(6, {"a": 0.9}, 1)
    assert work.shares() == {"a": 0.5}
    work.share(7, {"a": 0.5}, 2)
    assert work.shares() == {"a": 0.5}


def test_work_that_begins_later_is_not_counted_before(work: SimulatedWork) -> None:
    """Servers that are booted ahead work from the start of their lease on."""
    work.go_on("a", 10, 100)
    work.share(1, {"a": 0.5}, 50)
    assert work.next_end() == 120
    work.pause("a", 60)
    work.go_on("a", 10, 200)
    assert work.next_end() == 220


class _Clock:
    def now(self) -> int:
        return 0

    def seconds_until(self, instant: int) -> float:
        return float(instant)


def test_a_cloud_keeps_its_shares_when_the_engine_is_killed(tmp_path: Path) -> None:
    """The simulated cloud outlives the engine, and so do shares and revision."""
    path = str(tmp_path / "cloud.sqlite")
    with closing(SimulatedCloud(path, _Clock())) as cloud:
        cloud.shares.share(3, {"a": 0.4})
    with closing(SimulatedCloud(path, _Clock())) as again:
        again.shares.share(2, {"a": 1.0})
        assert again.shares.present() == {"a": 0.4}
