"""Leases that are ended before their time: what becomes of them, and of their hosts."""

from __future__ import annotations

import pytest

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Suspension

from .conftest import SUSPENDED_WORK, MakeWorld, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION


def test_a_lease_that_runs_is_shut_down_and_its_run_counts(make_world: MakeWorld) -> None:
    """The shutdown takes the time that was planned for it; the host is free for others afterwards."""
    world = make_world(
        request("1", RESERVATION, 2, 1000, start=0, shutdown=None)
        if False
        else request("1", RESERVATION, 2, 1000, start=0),
        request("2", BEST_EFFORT, 2, 500, submitted=10),
        planning={"shutdown_time": 30},
    ).until(400)
    world.run.engine.end("1", "enough")
    lease = world["1"]
    (holding,) = lease.holdings
    assert (lease.state, lease.reason, lease.accumulated, lease.active_since) == (
        LeaseState.ACTIVE,
        "enough",
        400,
        None,
    )
    assert (holding.start, holding.run_end, holding.end, holding.closing) == (0, 400, 430, Closing.SHUTDOWN)
    (operation,) = world.run.engine.operations.values()
    assert (operation.kind, operation.begun, operation.due) == (OperationKind.STOP, 400, 430)
    assert world["2"].holdings[0].start == 430
    world.end()
    assert (world["1"].state, world["1"].ended, world["1"].accumulated) == (LeaseState.DONE, 430, 400)
    assert (world["1"].reason, world["2"].reason) == ("enough", "")
    assert (world["2"].started, world["2"].state) == (430, LeaseState.DONE)


def test_what_happened_to_a_lease_before_is_not_why_it_ends(make_world: MakeWorld) -> None:
    world = make_world(request("1", RESERVATION, 1, 1000, start=100), hosts=2).until(50)
    world.run.engine.move("1", frozenset({world.run.site.hosts[world["1"].holdings[0].assignment[0]].name}), "repair")
    assert world["1"].reason == "repair"
    world.end()
    assert (world["1"].state, world["1"].ended, world["1"].reason) == (LeaseState.DONE, 1100, "")


def test_a_lease_that_is_shut_down_already_is_not_ended_twice(make_world: MakeWorld) -> None:
    """Its first reason and its end stay."""
    world = make_world(request("1", RESERVATION, 1, 1000, start=0), planning={"shutdown_time": 30}).until(400)
    world.run.engine.end("1", "enough")
    before = world["1"]
    world.until(410).run.engine.end("1", "really")
    assert world["1"] == before
    assert world.end()["1"].ended == 430


@pytest.mark.parametrize(("instant", "end"), [(430, 490), (460, 500)])
def test_leases_that_follow_do_not_wait_for_the_shutdown(make_world: MakeWorld, instant: int, end: int) -> None:
    """The host is promised to a reservation from 500 s on; the shutdown takes 60 s, or what is left."""
    world = make_world(*SUSPENDED_WORK, hosts=1, planning={"shutdown_time": 60}).until(instant)
    world.run.engine.end("work")
    (holding,) = world["work"].holdings
    assert (holding.run_end, holding.end) == (instant, end)
    assert world.end()["other"].started == 500


@pytest.mark.parametrize("instant", [490, 600, 810])
def test_saved_work_is_discarded_and_counts_as_done(make_world: MakeWorld, instant: int) -> None:
    """While the memory is saved, is stored, or is loaded."""
    world = make_world(*SUSPENDED_WORK, hosts=1).until(instant)
    world.run.engine.end("work", "enough")
    lease = world["work"]
    assert (lease.state, lease.reason, lease.ended, lease.accumulated) == (LeaseState.DONE, "enough", instant, 468)
    assert (lease.holdings, lease.saved_on) == ((), None)
    assert world.run.engine.lease("work") is None
    assert world.run.cloud.next_event() is None, "what the cloud was doing for it is broken off"
    assert world.end()["other"].ended == 800


def test_a_lease_that_has_not_begun_is_cancelled(make_world: MakeWorld) -> None:
    """In the queue or with a place, and it leaves its place to others."""
    world = make_world(
        request("1", RESERVATION, 2, 1000, start=100),
        request("2", BEST_EFFORT, 2, 500, submitted=10),
        request("3", BEST_EFFORT, 2, 500, submitted=20),
        planning={"suspension": Suspension.NONE},
    ).until(50)
    for lease_id in "31":
        world.run.engine.end(lease_id, "not needed")
        lease = world[lease_id]
        assert (lease.state, lease.reason, lease.ended) == (LeaseState.CANCELLED, "not needed", 50)
    assert world["2"].holdings[0].start == 50
    assert world.end()["2"].ended == 550
