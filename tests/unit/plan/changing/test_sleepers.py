"""Sleeping hosts in the plan: taken until they can be used, however often that changes (contention F60)."""

from __future__ import annotations

import random

import numpy as np

from lease_scheduler.plan.capacity.availability import FOREVER
from lease_scheduler.plan.changing.sleepers import closed, give_back, take_until
from tests.unit.plan.conftest import MakePlanner

_HOSTS = 3


def test_a_host_is_taken_from_now_until_the_last_instant_that_was_given(make_planner: MakePlanner) -> None:
    stream, planner, until = random.Random(1), make_planner(_HOSTS), dict[int, int]()
    plan, capacity = planner.plan, planner.plan.availability.capacity[0]
    for now in range(0, 3_000, 10):
        host = stream.randrange(_HOSTS)
        if stream.random() < 0.3:
            give_back(plan, [host], now)
            until.pop(host, None)
        else:
            until[host] = now + stream.choice((0, 5, 50, 500))
            take_until(plan, {host: until[host]}, now)
        assert plan.asleep == until
        for instant in (now, now + 7, now + 49, now + 50, now + 600):
            used = plan.availability.peak(instant, instant + 1)[0]
            expected = [capacity[each] if instant < until.get(each, 0) else 0 for each in range(_HOSTS)]
            assert used.tolist() == expected, (now, instant)
    give_back(plan, range(_HOSTS), 3_000)
    assert plan.availability.peak(3_000, FOREVER)[0].tolist() == [0] * _HOSTS


def test_closed_hosts_are_as_they_were_after_the_block(make_planner: MakePlanner) -> None:
    plan = make_planner(_HOSTS).plan
    take_until(plan, {0: 100}, 10)
    before = plan.availability.peak(50, 200)[0].tolist()
    with closed(plan, np.array([0, 1]), 50):
        assert plan.availability.peak(5_000, 5_001)[0, 0] > 0
        # Only hosts that sleep are closed.
        assert plan.availability.peak(5_000, 5_001)[0, 1] == 0
    assert plan.availability.peak(50, 200)[0].tolist() == before
    assert plan.asleep == {0: 100}
