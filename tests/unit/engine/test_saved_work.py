"""What is saved of a lease is not deleted because it cannot be brought back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.cloud.behaviour import CloudBehaviour
from lease_scheduler.model.lease import LeaseKind
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from tests.unit.engine.conftest import MakeWorld, World, request

BEST_EFFORT, DEADLINE, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE, LeaseKind.RESERVATION

_KEEPS = {"boot_attempts": 2, "keeps_saved_work": True}


def _preempted(make_world: MakeWorld, cloud: CloudBehaviour) -> World:
    """A best-effort lease of 2,000 s that makes room for a reservation from 500 to 600."""
    return make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=10, start=500, duration=100),
        hosts=1,
        cloud=cloud,
        engine=_KEEPS,
    )


def _in_pieces(make_world: MakeWorld, cloud: CloudBehaviour) -> World:
    """A deadline lease of 2,000 s that makes room for another one from 1,000 to 1,500, and may take until 3,500."""
    return make_world(
        request("1", DEADLINE, start=0, duration=2000, deadline=3_500),
        request("2", DEADLINE, start=1000, duration=500, deadline=1_600),
        hosts=1,
        cloud=cloud,
        engine=_KEEPS,
    )


def _heals(world: World) -> None:
    """Whatever was wrong with the cloud is mended."""
    world.run.cloud._behaviour = CloudBehaviour()


def _work(world: World) -> int:
    return sum(
        each.end - each.start
        for each in world.run.recorder.occupations
        if each.phase.value == "run" and each.lease_id == "1"
    )


def test_it_waits_longer_and_longer_and_goes_on_when_it_can(make_world: MakeWorld) -> None:
    world = _preempted(make_world, CloudBehaviour(resume_failure_probability=1.0)).until(8_000)
    assert world["1"].state not in FINAL_STATES
    assert world["1"].accumulated > 0
    failures = world.counters["failed_operations"]
    # Every 30 s there would have been hundreds.
    assert 5 < failures < 20
    assert "did not come back" in world["1"].reason or world["1"].state is not LeaseState.SUSPENDED_PENDING
    assert world.counters["waits_with_saved_work"] >= failures - 2
    _heals(world)
    world.end()
    assert (world["1"].state, world["1"].accumulated) == (LeaseState.DONE, 2000)
    assert _work(world) == 2000
    assert world.counters["healed_leases"] == 1
    assert world.counters["preemptions_with_loss"] == 0


def test_without_the_option_it_fails(make_world: MakeWorld) -> None:
    """As simulations have always done."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=10, start=500, duration=100),
        hosts=1,
        cloud=CloudBehaviour(resume_failure_probability=1.0),
        engine={"boot_attempts": 2},
    ).end()
    assert world["1"].state is LeaseState.FAILED


def test_a_deadline_that_is_missed_costs_no_work(make_world: MakeWorld) -> None:
    """It waits for its owner, who may have it done later, or end it."""
    world = _in_pieces(make_world, CloudBehaviour(resume_failure_probability=1.0)).end()
    lease = world["1"]
    assert (lease.state, lease.reservations) == (LeaseState.SUSPENDED_PENDING, ())
    assert lease.accumulated > 0
    assert "cannot be done by its deadline any more" in lease.reason
    _heals(world)
    later = replace(lease.request, deadline=50_000)
    world.run.engine.change("1", later)
    world.end()
    assert (world["1"].state, _work(world)) == (LeaseState.DONE, 2000)


def test_an_owner_may_end_what_waits(make_world: MakeWorld) -> None:
    world = _in_pieces(make_world, CloudBehaviour(resume_failure_probability=1.0)).end()
    world.run.engine.end("1")
    assert world["1"].state is LeaseState.DONE


@pytest.mark.parametrize("factor", [8, 12])
def test_servers_that_come_back_too_late_lose_no_work(make_world: MakeWorld, factor: int) -> None:
    """The resumption is not over when the next reservation begins; the lease is put away again."""
    reservations = range(2, 8)
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        *(request(str(n), RESERVATION, submitted=10, start=500 * (n - 1), duration=200) for n in reservations),
        hosts=1,
        cloud=CloudBehaviour(resume_factor=factor),
        engine=_KEEPS,
    ).end()
    assert (world["1"].state, world["1"].accumulated) == (LeaseState.DONE, 2000)
    assert (world.counters["preemptions_with_loss"], _work(world)) == (0, 2000)
    assert {world[str(n)].state for n in reservations} == {LeaseState.DONE}


def test_a_deadline_lease_that_comes_back_late_waits_with_its_work(make_world: MakeWorld) -> None:
    world = _in_pieces(make_world, CloudBehaviour(resume_factor=50)).end()
    lease = world["1"]
    assert (lease.state, lease.reservations) == (LeaseState.SUSPENDED_PENDING, ())
    assert lease.accumulated == _work(world) > 0
    assert world["2"].state is LeaseState.DONE


def test_a_restart_while_it_waits(make_world: MakeWorld) -> None:
    """An engine that takes over tries at once what another one would have tried later."""
    world = _preempted(make_world, CloudBehaviour(resume_failure_probability=1.0))
    while (event := world.run._next_instant()) is not None and event < 20_000:
        world.until(event)
        lease = world["1"]
        if lease.state is LeaseState.SUSPENDED_PENDING and not lease.reservations:
            break
    assert world["1"].state is LeaseState.SUSPENDED_PENDING
    _heals(world)
    engine = world.run.engine
    retries = engine._deviations.retries
    retries._due.clear()
    retries.restore(engine.live_leases(), world.run.clock.now())
    world.end()
    assert (world["1"].state, _work(world)) == (LeaseState.DONE, 2000)
