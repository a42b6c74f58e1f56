"""Deviations of the cloud from the plan (haizea F95)."""

from __future__ import annotations

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.states import LeaseState

from .conftest import MakeWorld, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION
DOWN = CloudBehaviour(host_failures=(HostFailure(host=0, instant=500, duration=10_000),))


def test_a_reservation_whose_hosts_are_not_free_in_time_goes_elsewhere(make_world: MakeWorld) -> None:
    """The suspension takes twice as long as planned; another host is free."""
    world = make_world(
        request("1", BEST_EFFORT, 2, duration=5000, submitted=0),
        request("2", RESERVATION, 1, submitted=10, start=1000, duration=500),
        request("3", BEST_EFFORT, 1, submitted=20, duration=100),
        hosts=3,
        cloud=CloudBehaviour(suspend_factor=2),
    ).end()
    assert (world["2"].started, world["2"].state) == (1000, LeaseState.DONE)


def test_or_begins_as_soon_as_they_are_free(make_world: MakeWorld) -> None:
    """No other host: the reservation starts late, ends in time, and the counters show that."""
    world = make_world(
        request("1", BEST_EFFORT, 1, duration=5000),
        request("2", RESERVATION, 1, submitted=10, start=1000, duration=500),
        hosts=1,
        cloud=CloudBehaviour(suspend_factor=2),
    ).end()
    assert (world["2"].started, world["2"].ended, world["2"].state) == (1032, 1500, LeaseState.DONE)
    assert world["1"].state is LeaseState.DONE
    assert world["1"].accumulated == 5000
    assert world.counters["late_operations"] >= 1


def test_a_late_boot_of_a_best_effort_lease_is_made_up_for(make_world: MakeWorld) -> None:
    world = make_world(request("1", BEST_EFFORT, duration=300), cloud=CloudBehaviour(boot_time=40)).end()
    assert (world["1"].started, world["1"].ended, world["1"].accumulated) == (40, 340, 300)
    assert world.counters["late_starts"] == 1


def test_a_late_boot_does_not_move_the_end_of_a_reservation(make_world: MakeWorld) -> None:
    world = make_world(request("1", RESERVATION, start=100, duration=300), cloud=CloudBehaviour(boot_time=40)).end()
    assert (world["1"].started, world["1"].ended, world["1"].accumulated) == (140, 400, 260)


def test_a_boot_that_never_succeeds_is_given_up_with_the_reason(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(boot_failure_probability=1.0)
    world = make_world(
        request("1", RESERVATION, start=100), request("2", BEST_EFFORT), cloud=cloud, engine={"boot_attempts": 4}
    ).end()
    for lease_id in "12":
        assert world[lease_id].state is LeaseState.FAILED
        assert world[lease_id].reason.startswith("start failed 4 times, last: start failed on host")
    assert world.counters["failed_boots"] == 8


def test_a_failed_boot_is_tried_on_another_host(make_world: MakeWorld) -> None:
    """With this seed the first boot fails and the second succeeds."""
    world = make_world(
        request("1", RESERVATION, start=100, duration=300), cloud=CloudBehaviour(boot_failure_probability=0.5, seed=4)
    ).end()
    assert (world.counters["failed_boots"], world["1"].state) == (1, LeaseState.DONE)
    assert (world["1"].started, world["1"].ended) == (100, 400)


@pytest.mark.parametrize(
    ("kind", "terms", "state", "started_again"),
    [
        (RESERVATION, {"start": 0}, LeaseState.DONE, 0),
        (BEST_EFFORT, {}, LeaseState.DONE, 0),
        (LeaseKind.IMMEDIATE, {}, LeaseState.DONE, 0),
        (LeaseKind.DEADLINE, {"start": 0, "deadline": 5000}, LeaseState.DONE, 0),
        (LeaseKind.DEADLINE, {"start": 0, "deadline": 1400}, LeaseState.FAILED, 0),
    ],
)
def test_a_host_that_dies_under_a_running_lease(
    make_world: MakeWorld, kind: LeaseKind, terms: dict[str, int], state: LeaseState, started_again: int
) -> None:
    """Promises of capacity continue elsewhere until their end; work starts over, if there is time for it."""
    world = make_world(request("1", kind, duration=1000, **terms), cloud=DOWN).end()
    lease = world["1"]
    assert (lease.state, lease.started) == (state, started_again)
    if kind in (RESERVATION, LeaseKind.IMMEDIATE):
        assert (lease.ended, lease.accumulated) == (1000, 1000)
    elif state is LeaseState.DONE:
        assert (lease.ended, lease.accumulated) == (1500, 1000)
    else:
        assert lease.ended == 500
        assert "host failed" in lease.reason


def test_a_reservation_without_any_other_host_goes_on_without_it(make_world: MakeWorld) -> None:
    """The project keeps the rest of the capacity, and is told what is missing."""
    world = make_world(request("1", RESERVATION, 2, start=0, duration=1000), cloud=DOWN).until(500)
    assert world["1"].reason == "its host failed, and no other is free"
    assert world.counters["missing_vms"] == 1
    assert (world.end()["1"].state, world["1"].ended, world["1"].accumulated) == (LeaseState.DONE, 1000, 1000)


def test_only_the_vms_of_the_dead_host_go_elsewhere(make_world: MakeWorld) -> None:
    world = make_world(request("1", RESERVATION, 2, start=0, duration=1000), hosts=3, cloud=DOWN).until(500)
    assert world["1"].state is LeaseState.ACTIVE
    assert world["1"].holdings[0].assignment == (2, 1)
    assert world.counters["replaced_vms"] == 1
    assert (world.end()["1"].state, world["1"].ended, world["1"].accumulated) == (LeaseState.DONE, 1000, 1000)


def test_what_is_missing_is_found_when_a_host_comes_free(make_world: MakeWorld) -> None:
    """The third host is another reservation's until 700."""
    world = make_world(
        request("1", RESERVATION, 2, start=0, duration=1000),
        request("2", RESERVATION, 1, start=0, duration=700),
        hosts=3,
        cloud=DOWN,
    )
    assert world.until(699).counters["replaced_vms"] == 0
    world.until(701)
    assert world["1"].holdings[0].assignment == (2, 1)
    assert world.counters["replaced_vms"] == 1
    assert world.end()["1"].accumulated == 1000


def test_a_lease_is_whole_again_when_its_host_is_back(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(host_failures=(HostFailure(host=0, instant=500, duration=100),))
    world = make_world(request("1", RESERVATION, 2, start=0, duration=1000), cloud=cloud).end()
    assert (world.counters["missing_vms"], world.counters["healed_leases"]) == (1, 1)
    assert world["1"].state is LeaseState.DONE


def test_a_closed_host_takes_nothing_new_and_keeps_what_runs(make_world: MakeWorld) -> None:
    """As when an operator disables its compute service; what is planned there moves."""
    world = make_world(
        request("1", BEST_EFFORT, 1, duration=1000),
        request("2", RESERVATION, 1, start=0, duration=300),
        request("3", RESERVATION, 1, submitted=10, start=400, duration=100),
        hosts=3,
    ).until(100)
    for lease_id in "123":
        assert world[lease_id].holdings
    closed = world["1"].holdings[0].assignment[0]
    world.run.engine.hosts._outages.host_closed(closed, 100)
    world.run.engine.step()
    assert world["1"].state is LeaseState.ACTIVE
    planned = request("4", LeaseKind.IMMEDIATE, 2, submitted=100, duration=1)
    world.run.engine.submit(planned)
    world.run.engine.step()
    world.end()
    assert (world["1"].accumulated, world["1"].state) == (1000, LeaseState.DONE)
    assert world["3"].state is LeaseState.DONE
    assert world["4"].state is LeaseState.REJECTED
    assert "host_failures" not in world.counters


def test_what_is_planned_on_a_dead_host_soon_is_moved_and_later_leases_wait(make_world: MakeWorld) -> None:
    """host_repair_time: the host is expected back in 600 s, and is back in time for the last reservation."""
    cloud = CloudBehaviour(host_failures=(HostFailure(host=0, instant=500, duration=600),))
    world = make_world(
        request("1", RESERVATION, 1, start=800, duration=100),
        request("2", RESERVATION, 2, start=2000, duration=100),
        cloud=cloud,
        engine={"host_repair_time": 600},
    ).until(500)
    assert world["1"].holdings[0].assignment == (1,)
    assert world["2"].holdings[0].hosts == {0, 1}
    assert [world.end()[i].state for i in "12"] == [LeaseState.DONE, LeaseState.DONE]


def test_a_host_that_stays_away_longer_stays_out_of_use(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(host_failures=(HostFailure(host=0, instant=500, duration=5_000),))
    world = make_world(
        request("1", BEST_EFFORT, 2, submitted=600, duration=100), cloud=cloud, engine={"host_repair_time": 600}
    ).end()
    assert (world["1"].started, world["1"].state) == (5500, LeaseState.DONE)


def test_saved_memory_is_lost_with_its_host(make_world: MakeWorld) -> None:
    """The lease was suspended at 400 and starts over."""
    world = make_world(
        request("1", BEST_EFFORT, duration=1000),
        request("2", RESERVATION, submitted=10, start=400, duration=300),
        hosts=1,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=710, duration=90),)),
    ).end()
    # It had been resuming since 700 when the host died; the host is back at 800.
    assert (world["1"].state, world["1"].accumulated, world["1"].ended) == (LeaseState.DONE, 1000, 1800)


def test_a_lease_that_can_never_have_a_place_ends_with_the_run(make_world: MakeWorld) -> None:
    """No lease is lost: one host stays away for the whole run, and the result says so."""
    cloud = CloudBehaviour(host_failures=(HostFailure(host=0, instant=10, duration=10**9),))
    world = make_world(request("1", BEST_EFFORT, 2, submitted=20), request("2", BEST_EFFORT, 1), cloud=cloud)
    world.until(10**6)
    assert world["1"].state in (LeaseState.QUEUED, LeaseState.READY)
    world.run.end()
    assert (world["1"].state, world["2"].state) == (LeaseState.CANCELLED, LeaseState.DONE)
    assert world["1"].reason == "still without a place when no events were left"


def test_what_is_shelved_survives_its_host(make_world: MakeWorld) -> None:
    """It is in the image store, so the lease continues elsewhere without any loss."""
    world = make_world(
        request("1", BEST_EFFORT, duration=1000, preemption_mode=PreemptionMode.SHELVE),
        request("2", RESERVATION, 2, submitted=10, start=400, duration=300),
        hosts=2,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=450, duration=9000),)),
    )
    world.until(440)
    saved_on = world["1"].saved_on
    assert saved_on == (0,)
    world.end()
    lease = world["1"]
    assert (lease.state, lease.accumulated) == (LeaseState.DONE, 1000)
    assert lease.ended == 700 + 32 + 1000 - (400 - 32)


def test_what_is_stopped_goes_on_where_it_was(make_world: MakeWorld) -> None:
    """One host is free from 500 on; the stopped servers are on the other one, which is free at 700."""
    world = make_world(
        request("1", BEST_EFFORT, duration=1000, preemption_mode=PreemptionMode.STOP),
        request("2", RESERVATION, 1, submitted=10, start=400, duration=100),
        request("3", RESERVATION, 1, submitted=20, start=400, duration=300),
        hosts=2,
        planning={"stop_time": 20},
    )
    world.until(450)
    (saved_on,) = world["1"].saved_on or ()
    world.until(1200)
    assert world["1"].holdings[0].assignment == (saved_on,)
    assert world.end()["1"].accumulated == 1000


@pytest.mark.parametrize("until", [None, 700])
@pytest.mark.parametrize("victim", [True, False])
def test_a_host_fails_at_the_very_second_at_which_its_lease_ends(
    make_world: MakeWorld, until: int | None, victim: bool
) -> None:
    """No other host is searched for, because there is nothing left to run."""
    ends = request("ends", LeaseKind.RESERVATION, start=10, duration=590)
    others = [request("other", LeaseKind.BEST_EFFORT, submitted=20, duration=5_000)] if victim else []
    world = make_world(ends, *others, hosts=2).until(599)
    (host,) = world["ends"].holdings[0].assignment
    world.run.clock.set(600)
    world.run.engine.hosts.out(world.run.engine.site.hosts[host].name, until)
    world.run.engine.step()
    assert (world["ends"].state, world["ends"].ended) == (LeaseState.DONE, 600)
    assert "moved_reservations" not in world.counters
    if victim:
        assert world.end()["other"].ended == 5_020
