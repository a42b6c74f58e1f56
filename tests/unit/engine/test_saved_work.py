"""The saved state of a lease is not deleted because it cannot be restored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.model.breach import BreachKind
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import FINAL_STATES, SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.options import Migration
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.workload import WorkloadLease
from tests.unit.engine.conftest import MakeWorld, World, request

BEST_EFFORT, DEADLINE, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE, LeaseKind.RESERVATION

_KEEPS = {"boot_attempts": 2, "keeps_saved_work": True}


def _preempted(make_world: MakeWorld, cloud: CloudBehaviour) -> World:
    """Return a run in which a best-effort lease of 2,000 s makes room for a reservation from 500 to 600."""
    return make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=10, start=500, duration=100),
        hosts=1,
        cloud=cloud,
        engine=_KEEPS,
    )


def _in_pieces(make_world: MakeWorld, cloud: CloudBehaviour) -> World:
    """Return a run in which a deadline lease of 2,000 s, due by 3,500, makes room for another from 1,000 to 1,500."""
    return make_world(
        request("1", DEADLINE, start=0, duration=2000, deadline=3_500),
        request("2", DEADLINE, start=1000, duration=500, deadline=1_600),
        hosts=1,
        cloud=cloud,
        engine=_KEEPS,
    )


def _heals(world: World) -> None:
    """End all faults of the cloud."""
    world.run.cloud._behaviour = CloudBehaviour()


def _work(world: World) -> int:
    return sum(
        each.end - each.start
        for each in world.run.recorder.occupations
        if each.phase.value == "run" and each.lease_id == "1"
    )


def test_what_cannot_be_resumed_is_suspended_again(make_world: MakeWorld) -> None:
    """The reservation ends at 600, the resumption takes 32 s, and so does the suspension."""
    world = _preempted(make_world, CloudBehaviour(resume_failure_probability=1.0)).until(632)
    (held,) = world["1"].holdings
    assert world["1"].state is LeaseState.SUSPENDING
    assert (held.run_start, held.run_end, held.end, held.closing) == (632, 632, 664, Closing.SUSPEND)


def test_it_waits_longer_and_longer_and_goes_on_when_it_can(make_world: MakeWorld) -> None:
    world = _preempted(make_world, CloudBehaviour(resume_failure_probability=1.0)).until(8_000)
    assert world["1"].state not in FINAL_STATES
    assert world["1"].accumulated > 0
    failures = world.counters["failed_operations"]
    # Every 30 s there would have been hundreds.
    assert 5 < failures < 20
    assert world["1"].state is LeaseState.SUSPENDED_PENDING
    assert "could not be resumed" in world["1"].reason
    assert world.counters["waits_with_saved_work"] >= failures - 2
    _heals(world)
    world.end()
    assert (world["1"].state, world["1"].accumulated) == (LeaseState.DONE, 2000)
    assert _work(world) == 2000
    assert world.counters["healed_leases"] == 1
    assert world.counters["preemptions_with_loss"] == 0


def test_without_the_option_it_fails(make_world: MakeWorld) -> None:
    """As in simulations."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=10, start=500, duration=100),
        hosts=1,
        cloud=CloudBehaviour(resume_failure_probability=1.0),
        engine={"boot_attempts": 2},
    ).end()
    assert world["1"].state is LeaseState.FAILED


def test_a_deadline_that_is_missed_costs_no_work(make_world: MakeWorld) -> None:
    """It waits for its project, which may have it finished later, or end it."""
    world = _in_pieces(make_world, CloudBehaviour(resume_failure_probability=1.0)).end()
    lease = world["1"]
    assert (lease.state, lease.holdings) == (LeaseState.SUSPENDED_PENDING, ())
    assert lease.accumulated > 0
    assert "cannot be done by its deadline any more" in lease.reason
    _heals(world)
    later = replace(lease.request, deadline=50_000)
    world.run.engine.change("1", later)
    world.end()
    assert (world["1"].state, _work(world)) == (LeaseState.DONE, 2000)


def test_a_deadline_that_is_missed_is_told_at_once_and_once(make_world: MakeWorld) -> None:
    """While the lease waits; not again by an engine that takes over, or when the lease is lost."""
    world = _in_pieces(make_world, CloudBehaviour(resume_failure_probability=1.0)).end()
    engine, now = world.run.engine, world.run.clock.now()
    (breach,) = world.run.recorder.breaches
    assert (breach.lease_id, breach.kind) == ("1", BreachKind.MISSED_DEADLINE)
    # When the remaining work became longer than the time left for it.
    assert breach.instant <= 3_500
    assert breach.seconds == world["1"].remaining
    engine._parts.deviations.retries.restore(engine.live_leases(), now)
    world.unattended_until(now + 1)
    engine._parts.deviations.relocation.fail(world["1"], now + 1, "lost")
    assert world["1"].state is LeaseState.FAILED
    assert world.run.recorder.breaches == [breach]


def test_a_later_deadline_may_be_missed_as_well(make_world: MakeWorld) -> None:
    world = _in_pieces(make_world, CloudBehaviour(resume_failure_probability=1.0)).end()
    later = replace(world["1"].request, deadline=world.run.clock.now() + 3_000)
    world.run.engine.change("1", later)
    world.end()
    assert [each.kind for each in world.run.recorder.breaches] == [BreachKind.MISSED_DEADLINE] * 2


def test_an_owner_may_end_what_waits(make_world: MakeWorld) -> None:
    world = _in_pieces(make_world, CloudBehaviour(resume_failure_probability=1.0)).end()
    world.run.engine.end("1")
    assert world["1"].state is LeaseState.DONE


@pytest.mark.parametrize("factor", [8, 12])
def test_servers_that_come_back_too_late_lose_no_work(make_world: MakeWorld, factor: int) -> None:
    """The resumption is not over when the next reservation starts; the lease is suspended again."""
    holdings = range(2, 8)
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        *(request(str(n), RESERVATION, submitted=10, start=500 * (n - 1), duration=200) for n in holdings),
        hosts=1,
        cloud=CloudBehaviour(resume_factor=factor),
        engine=_KEEPS,
    ).end()
    assert (world["1"].state, world["1"].accumulated) == (LeaseState.DONE, 2000)
    assert (world.counters["preemptions_with_loss"], _work(world)) == (0, 2000)
    assert {world[str(n)].state for n in holdings} == {LeaseState.DONE}


def test_a_deadline_lease_that_comes_back_late_waits_with_its_work(make_world: MakeWorld) -> None:
    world = _in_pieces(make_world, CloudBehaviour(resume_factor=50)).end()
    lease = world["1"]
    assert (lease.state, lease.holdings) == (LeaseState.SUSPENDED_PENDING, ())
    assert lease.accumulated == _work(world) > 0
    assert world["2"].state is LeaseState.DONE


def test_a_restart_while_it_waits(make_world: MakeWorld) -> None:
    """An engine that takes over tries at once what the previous one would have tried later."""
    world = _preempted(make_world, CloudBehaviour(resume_failure_probability=1.0))
    while (event := world.run.next_instant()) is not None and event < 20_000:
        world.until(event)
        lease = world["1"]
        if lease.state is LeaseState.SUSPENDED_PENDING and not lease.holdings:
            break
    assert world["1"].state is LeaseState.SUSPENDED_PENDING
    _heals(world)
    engine = world.run.engine
    retries = engine._parts.deviations.retries
    retries._due.clear()
    retries.restore(engine.live_leases(), world.run.clock.now())
    world.end()
    assert (world["1"].state, _work(world)) == (LeaseState.DONE, 2000)


# -- suspensions that fail -------------------------------------------------------------------------------


_STUCK = CloudBehaviour(suspend_failure_probability=1.0)


def test_servers_that_cannot_be_suspended_are_not_deleted(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reservation waits for the only host, its project is told, and both get what they were promised later."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=10, start=500, duration=1000),
        hosts=1,
        cloud=_STUCK,
        engine=_KEEPS,
    )
    told: list[str] = []
    monkeypatch.setattr(world.run.recorder, "terms_lost", lambda lease: told.append(lease.lease_id))
    world.until(800)
    victim = world["1"]
    assert (victim.state, victim.saved_on) == (LeaseState.SUSPENDING, None)
    assert victim.accumulated > 400
    assert "it is tried again in" in victim.reason
    assert world["2"].active_since is None
    assert set(told) == {"2"}
    _heals(world)
    world.end()
    assert (world["1"].state, world["1"].accumulated, _work(world)) == (LeaseState.DONE, 2000, 2000)
    assert world["2"].state is LeaseState.DONE
    assert world.counters["preemptions_with_loss"] == 0


@pytest.mark.parametrize("hosts", [3, 2])
def test_a_reservation_gets_another_host_or_the_rest(make_world: MakeWorld, hosts: int) -> None:
    """With a third host it is complete; without one it starts in time on the healthy one, and gets the other later."""
    world = make_world(
        request("1", BEST_EFFORT, 1, duration=3000),
        request("2", RESERVATION, 2, submitted=10, start=500, duration=1500),
        # It ends sooner than the reservation expects.
        *([WorkloadLease(request("3", BEST_EFFORT, 1, duration=9000), 450)] if hosts == 3 else []),
        hosts=hosts,
        cloud=_STUCK,
        engine=_KEEPS,
    ).until(700)
    victim, holding = world["1"], world["2"]
    assert holding.state is LeaseState.ACTIVE, holding
    assert holding.started == 500
    assert holding.missing_nodes == (0 if hosts == 3 else 1)
    if victim.state is LeaseState.SUSPENDING:
        _heals(world)
        world.until(1400)
        assert world["2"].missing_nodes == 0
        assert world["1"].state in SUSPENDED_STATES
    world.end()
    assert (world["1"].state, _work(world)) == (LeaseState.DONE, 3000)
    assert world["2"].state is LeaseState.DONE


def test_an_operator_may_have_them_deleted(make_world: MakeWorld) -> None:
    """If the cloud gives the saved work up, as operators can allow, the lease starts over; the reservation starts."""
    world = _preempted(make_world, _STUCK).until(499)
    cloud = world.run.cloud
    take = cloud.take_events
    cloud.take_events = lambda now: [replace(each, gives_up=True) for each in take(now)]  # type: ignore[method-assign]
    world.until(550)
    assert (world["1"].accumulated, world["1"].active_since) == (0, None)
    assert world["2"].state is LeaseState.ACTIVE


def test_pauses_between_attempts_grow(make_world: MakeWorld) -> None:
    """A server that stays broken fills neither the history nor the log."""
    world = _preempted(make_world, _STUCK).until(500 + 6 * 3600)
    assert world["1"].state is LeaseState.SUSPENDING
    assert world.counters["failed_operations"] < 110


def test_a_restart_while_it_is_stuck(make_world: MakeWorld) -> None:
    """The reservation that started without the host keeps what it has; nothing is over capacity."""
    world = make_world(
        request("1", BEST_EFFORT, 1, duration=3000),
        request("2", RESERVATION, 2, submitted=10, start=500, duration=1500),
        hosts=2,
        cloud=_STUCK,
        engine=_KEEPS,
    ).until(700)
    assert (world["2"].state, world["2"].missing_nodes) == (LeaseState.ACTIVE, 1)
    engine = world.run.engine
    for lease_id, run in engine._state.runs.items():
        engine._state.runs.loosen(lease_id)
        run.without = frozenset()
    for host in list(engine._state.occupied):
        engine._state.vacate(host)
    engine._parts.deviations.retries.restore(engine.live_leases(), world.run.clock.now())
    world.until(1000)
    assert (world["2"].state, world["2"].missing_nodes) == (LeaseState.ACTIVE, 1)
    check_plan(engine._state.planner.plan, world.run.clock.now())
    _heals(world)
    world.end()
    assert (world["1"].state, _work(world)) == (LeaseState.DONE, 3000)
    assert world["2"].state is LeaseState.DONE


def test_memory_that_cannot_be_moved_is_kept(make_world: MakeWorld) -> None:
    """It stays where it is saved, and the lease resumes later."""
    world = make_world(
        request("1", BEST_EFFORT, 1, duration=3000),
        request("2", RESERVATION, 2, submitted=10, start=500, duration=100),
        request("3", RESERVATION, 1, submitted=20, start=600, duration=5000),
        hosts=2,
        cloud=CloudBehaviour(transfer_failure_probability=1.0),
        planning={"migration": Migration.YES, "migration_bandwidth": 100.0},
        engine=_KEEPS,
    ).until(4000)
    assert world.counters["migrations"] > 0
    lease = world["1"]
    assert lease.state in SUSPENDED_STATES
    assert lease.accumulated > 0
    _heals(world)
    world.end()
    assert (world["1"].state, _work(world)) == (LeaseState.DONE, 3000)


def test_memory_moves_ahead_to_a_host_that_is_not_left_yet(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease itself starts later, so it keeps its place; if the host is not free in its turn, it waits."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", BEST_EFFORT, duration=3000),
        request("3", RESERVATION, submitted=10, start=500, duration=1500),
        request("4", RESERVATION, submitted=600, start=900, duration=200),
        hosts=2,
        planning={"migration": Migration.YES, "migration_bandwidth": 10.0},
        engine=_KEEPS,
    ).until(700)
    world.run.cloud._behaviour = _STUCK
    world.until(909)
    assert world["2"].state is LeaseState.SUSPENDING
    # Without a limit, replanning would repeat for ever within one step.
    planned: list[str] = []
    relocation = world.run.engine._parts.deviations.relocation
    move = relocation.move

    def counted(lease: Lease, *others: Any) -> None:
        planned.append(lease.lease_id)
        assert len(planned) < 100, "it gets the same place again and again"
        move(lease, *others)

    monkeypatch.setattr(relocation, "move", counted)
    world.run.engine.cancel("4")
    (first,) = world["1"].holdings
    (moving,) = first.migrations
    assert first.hosts == world.run.engine._state.runs["2"].stuck
    assert moving.start < first.start
    world.until(moving.start)
    assert world["1"].holdings == (first,)
    assert world.counters["migrations"] == 1
    _heals(world)
    world.end()
    assert [world[each].state for each in ("1", "2")] == [LeaseState.DONE, LeaseState.DONE]
    assert _work(world) == 2000
