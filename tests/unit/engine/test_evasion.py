"""Preempted leases whose running servers move to other hosts (mode ``migrate``)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.states import LeaseState

from .conftest import MakeWorld, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION
MIGRATE = PreemptionMode.MIGRATE


def test_it_goes_on_where_there_is_room(make_world: MakeWorld) -> None:
    """Host 0 is reserved by name, host 1 is free: the work goes on without a gap."""
    holding = request("2", RESERVATION, submitted=10, start=1000, duration=500)
    (node,) = holding.nodes
    named = replace(holding, nodes=(replace(node, hosts=frozenset({"host-1"})),))
    world = make_world(request("1", BEST_EFFORT, duration=5000, preemption_mode=MIGRATE), named, hosts=2)
    assert world.until(5)["1"].holdings[0].assignment == (0,)
    assert world.until(20)["1"].holdings[0].assignment == (1,)
    world.end()
    assert (world["1"].ended, world["1"].accumulated, world["2"].started) == (5000, 5000, 1000)
    assert world.counters["evasions"] == 1
    assert "suspensions" not in world.counters


def test_without_room_it_is_shelved(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, duration=5000, preemption_mode=MIGRATE),
        request("2", RESERVATION, 2, submitted=10, start=1000, duration=500),
        hosts=2,
    ).end()
    assert (world["2"].started, world["1"].accumulated, world["1"].state) == (1000, 5000, LeaseState.DONE)
    assert world.counters["suspensions"] == 1


def test_one_that_may_not_move_while_it_runs_does_not(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, 2, duration=5000),
        request("2", RESERVATION, 1, submitted=10, start=1000, duration=500),
        hosts=3,
    )
    world.until(20)
    assert "evasions" not in world.counters


def test_a_deadline_lease_that_would_be_late_does_not(make_world: MakeWorld) -> None:
    """It moves only if it then ends in time."""
    world = make_world(
        request("1", LeaseKind.DEADLINE, 1, duration=800, start=0, deadline=4000, preemption_mode=MIGRATE),
        request("2", RESERVATION, 2, submitted=10, start=400, duration=500),
        hosts=2,
    ).end()
    assert world["1"].state is LeaseState.DONE
    assert (world["1"].ended or 0) <= 4000


def test_a_run_that_has_begun_goes_on_from_now(make_world: MakeWorld) -> None:
    """Its holding elsewhere begins with the move, ends with the work, and is not cut short any more."""
    holding = request("2", RESERVATION, submitted=300, start=1000, duration=500)
    (node,) = holding.nodes
    named = replace(holding, nodes=(replace(node, hosts=frozenset({"host-1"})),))
    work = request("1", BEST_EFFORT, duration=5000, preemption_mode=MIGRATE)
    world = make_world(work, named, hosts=2, planning={"shutdown_time": 7}).until(300)
    lease = world["1"]
    assert (lease.accumulated, lease.active_since) == (300, 300)
    assert lease.holdings == (Holding((1,), 300, 300, 5000, 5007),)
    assert [(each.start, each.end, each.assignment) for each in world.run.recorder.occupations] == [(0, 300, (0,))]
