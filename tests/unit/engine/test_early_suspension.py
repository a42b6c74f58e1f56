"""Victims that are suspended before the planned instant (contention P40)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PreemptAt, RoomLead, Suspension
from lease_scheduler.plan.plan import NotPlannableError

from .conftest import MakeWorld, World, request

BEST_EFFORT, DEADLINE, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE, LeaseKind.RESERVATION

#: Suspending or resuming a VM takes 32 s.
ASKED = request("asked", RESERVATION, submitted=10, start=1000, duration=500)


def _victim(make_world: MakeWorld, **planning: object) -> World:
    """Return a run in which a best-effort lease is to be suspended from 968 s to 1000 s."""
    work = request("work", BEST_EFFORT, duration=2000)
    world = make_world(work, ASKED, hosts=1, planning={"room_lead": RoomLead.STRICT, **planning})
    assert world.until(900)["work"].holdings[0].run_end == 968
    return world


def test_the_suspension_begins_now_and_the_hosts_are_free_sooner(make_world: MakeWorld) -> None:
    world = _victim(make_world, planned_suspension=Suspension.NONE)
    world.run.engine.suspend_now("work")
    assert world["work"].state is LeaseState.SUSPENDING
    assert world.until(932)["work"].state in (LeaseState.SUSPENDED_SCHEDULED, LeaseState.SUSPENDED_QUEUED)
    world.end()
    assert world["asked"].started == 1000
    assert (world["work"].state, world["work"].accumulated) == (LeaseState.DONE, 2000)
    assert world["work"].ended == 1500 + 32 + 2000 - 900
    assert "preemptions_with_loss" not in world.counters


def test_a_reservation_that_waits_for_the_grace_period_starts_sooner(make_world: MakeWorld) -> None:
    """Its host fails, so it moves: the victim there could go on for a minute first."""
    running = request("running", RESERVATION, start=0, duration=2000)
    world = make_world(
        running,
        request("work", BEST_EFFORT, submitted=1, duration=5000),
        planning={"room_lead": RoomLead.STRICT, "preemption_grace": 60},
    ).until(500)
    hosts = world["running"].holdings[0].assignment
    world.run.engine.hosts.out(world.run.site.hosts[hosts[0]].name)
    assert world["work"].holdings[0].run_end == 560
    world.until(510).run.engine.suspend_now("work")
    assert world.until(541)["running"].holdings[0].assignment == hosts
    assert world.until(542)["running"].holdings[0].assignment != hosts


@pytest.mark.parametrize("lease_id", ["work", "asked", "other"])
def test_only_a_victim_that_runs_can_be_ready(make_world: MakeWorld, lease_id: str) -> None:
    """It is refused once the suspension is going on, for a lease that has not started, and for one that stays."""
    other = request("other", BEST_EFFORT, duration=200)
    work = request("work", BEST_EFFORT, duration=2000)
    world = make_world(work, other, request("asked", RESERVATION, 2, submitted=10, start=1000), hosts=2).until(100)
    if lease_id == "work":
        world.run.engine.suspend_now("work")
    before = world.run.engine.live_leases()
    with pytest.raises(NotPlannableError):
        world.run.engine.suspend_now(lease_id)
    assert world.run.engine.live_leases() == before
    with pytest.raises(InvalidValueError):
        world.run.engine.suspend_now("unknown")


def test_a_lease_that_will_be_deleted_cannot_be_suspended_instead(make_world: MakeWorld) -> None:
    work = request("work", BEST_EFFORT, duration=2000, preemption_mode=PreemptionMode.DELETE)
    world = make_world(work, ASKED, hosts=1, planning={"preempt_at": PreemptAt.START}).until(900)
    with pytest.raises(NotPlannableError, match="^it is not going to be suspended$"):
        world.run.engine.suspend_now("work")


@pytest.mark.parametrize(("deadline", "kept"), [(9000, True), (1500 + 32 + 1032 + 10, False)])
def test_a_deadline_lease_is_suspended_sooner_if_it_still_meets_its_deadline(
    make_world: MakeWorld, deadline: int, kept: bool
) -> None:
    """By plan it runs until 968 s, and from 1532 s for another 1032 s."""
    world = make_world(
        request("work", DEADLINE, start=0, duration=2000, deadline=deadline),
        request("asked", DEADLINE, submitted=10, start=1000, duration=500, deadline=1500),
        hosts=1,
        planning={"planned_suspension": Suspension.NONE},
    ).until(900)
    assert [(each.run_start, each.run_end) for each in world["work"].holdings] == [(0, 968), (1532, 2564)]
    if kept:
        world.run.engine.suspend_now("work")
        assert world["work"].state is LeaseState.SUSPENDING
    else:
        with pytest.raises(NotPlannableError):
            world.run.engine.suspend_now("work")
        assert world["work"].holdings[0].run_end == 968
    world.end()
    assert (world["work"].state, world["work"].accumulated) == (LeaseState.DONE, 2000)
    assert world["asked"].ended == 1500
