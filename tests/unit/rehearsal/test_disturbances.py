from __future__ import annotations

from math import inf

from lease_scheduler.rehearsal.disturbances import Disturbance, Disturbances, last_trouble
from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler

_ALL = [Disturbance("rain", 10, 20), Disturbance("down", 15, 40, "compute-1"), Disturbance("snow", 100, inf)]


def test_a_disturbance_lasts_until_its_end_is_noted() -> None:
    scheduler = Scheduler(1)
    found = Disturbances(scheduler)
    scheduler.now = 5.0
    end = found.begin("take-out", "compute-1")
    assert found.all == [Disturbance("take-out", EPOCH + 5.0, inf, "compute-1")]
    scheduler.now = 9.0
    end()
    found.add("rain", 12.0)
    assert found.all == [
        Disturbance("take-out", EPOCH + 5.0, EPOCH + 9.0, "compute-1"),
        Disturbance("rain", EPOCH + 9.0, EPOCH + 12.0),
    ]


def test_trouble_is_the_latest_before_an_instant() -> None:
    assert last_trouble(_ALL, 5) == -inf
    assert last_trouble(_ALL, 12) == 12
    assert last_trouble(_ALL, 50) == 40
    assert last_trouble(_ALL, 1_000) == 1_000


def test_trouble_on_a_host_counts_only_there() -> None:
    assert last_trouble(_ALL, 50, frozenset({"compute-2"})) == 20
    assert last_trouble(_ALL, 50, frozenset({"compute-1"})) == 40
