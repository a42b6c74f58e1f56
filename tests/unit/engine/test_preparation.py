"""Reservations whose VMs are booted ahead of their start (haizea 7.3)."""

from __future__ import annotations

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState

from .conftest import MakeWorld, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION
AHEAD = {"preparation_time": 60}
SLOW = CloudBehaviour(boot_time=40)


def test_vms_run_at_the_start(make_world: MakeWorld) -> None:
    """The boot takes 40 s and starts 60 s ahead; the project has the whole interval."""
    world = make_world(request("1", RESERVATION, start=100, duration=300), cloud=SLOW, engine=AHEAD)
    world.until(39)
    assert not world["1"].is_prepared
    world.until(90)
    assert (world["1"].state, world["1"].is_prepared) == (LeaseState.READY, True)
    assert (world["1"].holdings[0].start, world["1"].holdings[0].run_start) == (40, 100)
    world.end()
    assert (world["1"].started, world["1"].ended, world["1"].accumulated) == (100, 400, 300)
    assert "late_starts" not in world.counters


def test_a_deadline_lease_is_booted_ahead_too(make_world: MakeWorld) -> None:
    """It has no second to lose: the whole duration by its deadline is promised."""
    terms = request("1", LeaseKind.DEADLINE, start=100, duration=300, deadline=400)
    world = make_world(terms, cloud=SLOW, engine=AHEAD).end()
    assert (world["1"].state, world["1"].started, world["1"].ended) == (LeaseState.DONE, 100, 400)


def test_who_has_the_hosts_keeps_them_until_the_start(make_world: MakeWorld) -> None:
    """Back to back: the second lease has no right to the hosts before its start."""
    world = make_world(
        request("1", RESERVATION, start=0, duration=100),
        request("2", RESERVATION, start=100, duration=300),
        hosts=1,
        cloud=SLOW,
        engine=AHEAD,
    ).end()
    assert world["1"].ended == 100
    assert (world["2"].started, world["2"].ended) == (140, 400)


def test_hosts_that_come_free_in_between_are_taken(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", RESERVATION, start=0, duration=50),
        request("2", RESERVATION, start=100, duration=300),
        hosts=1,
        cloud=SLOW,
        engine=AHEAD,
    ).end()
    assert world["2"].started == 100


def test_a_suspension_makes_room_in_time(make_world: MakeWorld) -> None:
    """With a buffer as long as the preparation, the hosts are free when it starts (haizea F73)."""
    world = make_world(
        request("1", BEST_EFFORT, 1, duration=5000),
        request("2", RESERVATION, 1, submitted=10, start=1000, duration=500),
        hosts=1,
        cloud=SLOW,
        planning={"suspend_buffer": 60},
        engine=AHEAD,
    )
    world.until(940)
    assert world["1"].saved_on is not None
    assert world["2"].is_prepared
    world.end()
    assert (world["2"].started, world["2"].ended, world["1"].accumulated) == (1000, 1500, 5000)


def test_a_host_that_dies_with_what_was_booted_is_replaced(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(boot_time=20, host_failures=(HostFailure(host=0, instant=70, duration=10_000),))
    world = make_world(request("1", RESERVATION, start=100, duration=300), hosts=2, cloud=cloud, engine=AHEAD)
    world.until(65)
    assert world["1"].holdings[0].assignment == (0,)
    world.end()
    assert (world["1"].started, world["1"].ended, world["1"].state) == (100, 400, LeaseState.DONE)


def test_a_boot_that_fails_ahead_is_tried_again_before_the_start(make_world: MakeWorld) -> None:
    """With this seed the first boot fails and the second succeeds."""
    cloud = CloudBehaviour(boot_time=20, boot_failure_probability=0.5, seed=4)
    world = make_world(request("1", RESERVATION, start=100, duration=300), cloud=cloud, engine=AHEAD).end()
    assert world.counters["failed_boots"] == 1
    assert (world["1"].started, world["1"].ended) == (100, 400)


@pytest.mark.parametrize("instant", [50, 90])
def test_an_end_before_the_start_leaves_nothing(make_world: MakeWorld, instant: int) -> None:
    """While it boots, and after it has booted."""
    world = make_world(request("1", RESERVATION, start=100, duration=300), hosts=1, cloud=SLOW, engine=AHEAD)
    world.until(instant)
    world.run.engine.end("1")
    assert world["1"].state is LeaseState.CANCELLED
    world.run.engine.submit(request("2", LeaseKind.IMMEDIATE, submitted=instant, duration=100))
    world.run.engine.step()
    world.end()
    assert world["2"].state is LeaseState.DONE


def test_who_may_not_be_prepared_is_not(make_world: MakeWorld) -> None:
    """Best-effort leases in the queue start with their place."""
    world = make_world(
        request("1", RESERVATION, 1, start=0, duration=500), request("2", BEST_EFFORT), hosts=1, engine=AHEAD
    )
    world.until(480)
    assert not world["2"].is_prepared
    world.end()
    assert world["2"].started == 500


def test_at_short_notice_nothing_is_lost_for_the_sake_of_the_buffer(make_world: MakeWorld) -> None:
    """The suspension takes 32 s and there are 50 s: it is done by the start, and the boot is late."""
    world = make_world(
        request("1", BEST_EFFORT, 1, duration=5000),
        request("2", RESERVATION, 1, submitted=950, start=1000, duration=500),
        hosts=1,
        cloud=SLOW,
        planning={"suspend_buffer": 60},
        engine=AHEAD,
    ).end()
    assert (world["1"].accumulated, world["1"].state) == (5000, LeaseState.DONE)
    assert "preemptions_with_loss" not in world.counters
    # The hosts came free at 982; the plan looks 15 s ahead of the start.
    assert world["2"].started == 985 + 40
