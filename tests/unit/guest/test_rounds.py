"""Rounds of a guest in a small world: what is killed, refused or preempted leaves nothing behind."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.guest.values import Limits
from tests.unit.guest.small_world import SmallWorld

_LIMITS = Limits(nodes=3, term=40, setup=10, lookahead=12)
_CONTROLLERS = ("adaptive", "per-job", "per-job-extend")
_JOBS = ((1, 5), (2, 20), (3, 3))

#: Seconds within which all work must be done: a lot, as each job may be interrupted.
_LIMIT = 1_000


def _world(controller: str, jobs: Sequence[tuple[int, int]] = _JOBS, limits: Limits = _LIMITS) -> SmallWorld:
    return SmallWorld(controller, limits, jobs)


@pytest.mark.parametrize("controller", _CONTROLLERS)
def test_all_jobs_end_and_all_nodes_go_back(controller: str) -> None:
    with closing(_world(controller)) as world:
        world.run(_LIMIT)
        assert [job.ends for job in world.queue.jobs] == [1, 1, 1]


@pytest.mark.parametrize("controller", _CONTROLLERS)
@pytest.mark.parametrize("after", [False, True])
def test_a_guest_that_is_killed_at_any_call_repeats_it(controller: str, *, after: bool) -> None:
    """No second lease, no node and no lease left, each job ends once."""
    with closing(_world(controller)) as world:
        world.run(_LIMIT)
        calls, leases = world.switch.calls, len(world.site.granted)
    for at in range(0, calls, 5 if after else 7):
        with closing(_world(controller)) as world:
            world.switch.at, world.switch.after = at, after
            world.run(_LIMIT)
            assert [job.ends for job in world.queue.jobs] == [1, 1, 1], at
            assert len(world.site.granted) <= leases + 1, at


@given(
    controller=st.sampled_from(_CONTROLLERS),
    jobs=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 25)), min_size=1, max_size=4),
    preempted=st.lists(st.integers(1, 60), max_size=2),
    killed=st.integers(-1, 200),
)
@settings(max_examples=25)
def test_whatever_is_preempted_and_killed_each_job_ends_once(
    controller: str, jobs: list[tuple[int, int]], preempted: list[int], killed: int
) -> None:
    with closing(_world(controller, jobs)) as world:
        world.switch.at = killed
        for _ in range(60):
            world.step()
            if world.now in preempted:
                world.site.preempt()
        world.run(_LIMIT)
        assert [job.ends for job in world.queue.jobs] == [1] * len(jobs)


def test_a_static_guest_offers_its_nodes() -> None:
    """Shirako S11: the nodes are in the queue before there are jobs, and again after a preemption."""
    with closing(_world("static", ())) as world:
        world.queue.idle = 1_000
        for _ in range(12):
            world.step()
        assert set(world.queue.machines) == {"c0", "c1", "c2"}
        assert [lease.terms["nodes"][0]["count"] for lease in world.site.granted.values()] == [3]
        world.site.preempt()
        for _ in range(20):
            world.step()
        assert len(world.site.live()) == 1
        assert set(world.queue.machines.values()) == set(world.site.live())
