"""Operations that take longer than planned, and the leases that have to wait for them (haizea F95)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Migration, PreemptAt, RoomLead, Suspension

from .conftest import MakeWorld, World, request

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE
SLOW_BOOT = CloudBehaviour(boot_time=40)


def _kept(world: World, lease_id: str) -> tuple[LeaseState, int, int | None]:
    """Return state, seconds of run and end of a lease."""
    lease = world[lease_id]
    return lease.state, lease.accumulated, lease.ended


# -- late starts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "terms"), [(BEST_EFFORT, {}), (DEADLINE, {"start": 0, "deadline": 5000})])
def test_a_late_start_before_a_reservation_is_made_up_for_behind_it(
    make_world: MakeWorld, kind: LeaseKind, terms: dict[str, int]
) -> None:
    """The hosts are promised from 1000 on: it is suspended for that, and runs the rest when they are free."""
    world = make_world(
        request("1", RESERVATION, start=1000, duration=500), request("2", kind, **terms), hosts=1, cloud=SLOW_BOOT
    ).end()
    assert _kept(world, "2") == (LeaseState.DONE, 1000, 1500 + 32 + (1000 - (968 - 40)))
    assert world["1"].ended == 1500


@pytest.mark.parametrize(("kind", "terms"), [(BEST_EFFORT, {}), (DEADLINE, {"start": 0, "deadline": 5000})])
def test_a_late_start_that_cannot_be_suspended_is_repeated(
    make_world: MakeWorld, kind: LeaseKind, terms: dict[str, int]
) -> None:
    """Its work is lost; its promise is kept behind the reservation."""
    world = make_world(
        request("1", RESERVATION, start=1000, duration=500),
        request("2", kind, **terms),
        hosts=1,
        cloud=SLOW_BOOT,
        planning={"suspension": Suspension.NONE},
    ).end()
    assert _kept(world, "2") == (LeaseState.DONE, 1000, 1500 + 40 + 1000)


def test_a_deadline_lease_whose_first_part_starts_late_still_runs_in_full(make_world: MakeWorld) -> None:
    """It has to be suspended for an urgent lease anyway, so the missing time is added to its last part."""
    world = make_world(
        request("1", DEADLINE, start=0, duration=2000, deadline=9000),
        request("2", DEADLINE, start=1000, duration=500, deadline=1600),
        hosts=1,
        cloud=SLOW_BOOT,
    )
    assert [(r.run_start, r.run_end) for r in world.until(39)["1"].holdings] == [(0, 968), (1532, 2564)]
    assert [(r.run_start, r.run_end) for r in world.until(40)["1"].holdings] == [(40, 968), (1532, 2604)]
    world.run.engine.cancel("2")
    assert _kept(world.end(), "1")[:2] == (LeaseState.DONE, 2000)


@pytest.mark.parametrize(("deadline", "states"), [(9000, ("done", "done")), (2610, ("done", "failed"))])
def test_a_late_start_moves_a_deadline_lease_that_can_wait(
    make_world: MakeWorld, deadline: int, states: tuple[str, str]
) -> None:
    """The first one was suspended for the second one, which would be too late if it had to give up its hosts.

    The first one resumes 40 s later if its deadline allows; otherwise the older promise is kept.
    """
    world = make_world(
        request("1", DEADLINE, start=0, duration=2000, deadline=deadline),
        request("2", DEADLINE, start=1000, duration=500, deadline=1600),
        hosts=1,
        cloud=SLOW_BOOT,
    ).end()
    assert (world["1"].state.value, world["2"].state.value) == states
    if states[1] == "done":
        assert _kept(world, "2") == (LeaseState.DONE, 500, 1540)
        assert world["1"].accumulated == 2000


def test_a_deadline_lease_that_starts_too_late_for_its_deadline_fails_at_once(make_world: MakeWorld) -> None:
    """haizea F56: a part of its duration would be useless."""
    world = make_world(request("1", DEADLINE, start=0, deadline=1039), cloud=SLOW_BOOT).end()
    assert _kept(world, "1")[0] is LeaseState.FAILED
    assert world["1"].ended == 40
    assert "40 s late" in world["1"].reason
    world = make_world(request("1", DEADLINE, start=0, deadline=1040), cloud=SLOW_BOOT).end()
    assert _kept(world, "1") == (LeaseState.DONE, 1000, 1040)


def test_a_late_start_moves_those_that_were_promised_nothing(make_world: MakeWorld) -> None:
    """The waiting best-effort lease gives up its place, so that the first one can finish."""
    world = make_world(request("1", BEST_EFFORT), request("2", BEST_EFFORT), hosts=1, cloud=SLOW_BOOT).end()
    assert _kept(world, "1") == (LeaseState.DONE, 1000, 1040)
    assert _kept(world, "2") == (LeaseState.DONE, 1000, 2080)


def test_work_that_is_done_in_the_time_of_the_shutdown_is_not_suspended(make_world: MakeWorld) -> None:
    """40 s late, with 100 s reserved for the shutdown: the work is done in time, and a shutdown follows."""
    world = make_world(
        request("1", RESERVATION, start=1100, duration=500),
        request("2", BEST_EFFORT),
        hosts=1,
        cloud=SLOW_BOOT,
        planning={"shutdown_time": 100},
    ).end()
    assert _kept(world, "2") == (LeaseState.DONE, 1000, 1100)
    assert world.counters["suspensions"] == 0


@pytest.mark.parametrize("kind", [RESERVATION, LeaseKind.IMMEDIATE])
def test_vms_that_are_not_ready_before_the_end_are_given_up(make_world: MakeWorld, kind: LeaseKind) -> None:
    """The hosts are free at the end of the interval, whatever the result of the boot."""
    terms = {"start": 0} if kind is RESERVATION else {}
    world = make_world(
        request("1", kind, duration=300, **terms),
        request("2", RESERVATION, start=300, duration=600),
        hosts=1,
        cloud=CloudBehaviour(boot_time=400),
    ).end()
    assert (world["1"].state, world["1"].ended) == (LeaseState.FAILED, 300)
    assert world["1"].reason == "its VMs were not ready before it was over"
    assert (world["2"].started, world["2"].ended) == (700, 900)


def test_a_boot_that_outlasts_its_place_gets_more_time_where_nobody_follows(make_world: MakeWorld) -> None:
    world = make_world(request("1", BEST_EFFORT, duration=100), cloud=CloudBehaviour(boot_time=450)).end()
    assert _kept(world, "1") == (LeaseState.DONE, 100, 550)
    assert world.counters["late_operations"] == 3, "at 100, 200 and 400"


# -- an engine that was away ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suspension", [Suspension.ALL, Suspension.NONE])
@pytest.mark.parametrize("failures", [(), (HostFailure(0, 1050, 600),)])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (request("1", BEST_EFFORT), request("2", RESERVATION, submitted=10, start=700)),
        (
            request("1", DEADLINE, start=0, deadline=9000),
            request("2", DEADLINE, submitted=10, start=700, deadline=1700),
        ),
    ],
)
def test_work_that_went_on_to_its_end_unattended_is_done(
    make_world: MakeWorld,
    first: LeaseRequest,
    second: LeaseRequest,
    suspension: Suspension,
    failures: tuple[HostFailure, ...],
) -> None:
    """It was to be preempted before 700 while no engine ran: at 1100 it has run longer than its 1000 s; it is done."""
    cloud = CloudBehaviour(host_failures=failures)
    world = make_world(first, second, hosts=1, planning={"suspension": suspension}, cloud=cloud).until(100)
    assert world["1"].holdings[0].run_end <= 700
    world.unattended_until(1100)
    assert (world["1"].state, world["1"].accumulated) == (LeaseState.DONE, 1100)
    assert world.counters["suspensions"] == 0


# -- late ends -----------------------------------------------------------------------------------------------


def _suspended_late(make_world: MakeWorld, *others: Any, hosts: int = 1, **settings: Any) -> World:
    """Return a run in which a best-effort lease is suspended late for a reservation from 1000 on."""
    return make_world(
        request("1", BEST_EFFORT, duration=5000),
        *others,
        hosts=hosts,
        **{"cloud": CloudBehaviour(suspend_factor=1.5), **settings},
    )


def test_a_delayed_reservation_begins_when_its_hosts_are_free_and_not_when_that_was_expected(
    make_world: MakeWorld,
) -> None:
    """The hosts are expected to be held until 1032, and come free at 1016."""
    world = _suspended_late(make_world, request("2", RESERVATION, submitted=10, start=1000, duration=500))
    assert world.until(1000)["2"].holdings[0].start == 1032
    assert world.until(1016)["2"].started == 1016
    assert _kept(world.end(), "2") == (LeaseState.DONE, 484, 1500)
    assert _kept(world, "1")[:2] == (LeaseState.DONE, 5000)


def test_a_delayed_reservation_whose_hosts_come_free_before_its_start_begins_at_its_start(
    make_world: MakeWorld,
) -> None:
    """At 980, with a buffer of 20 s, the hosts are expected to be held until 1012; they come free at 996."""
    world = _suspended_late(
        make_world,
        request("2", RESERVATION, submitted=10, start=1000, duration=500),
        planning={"suspend_buffer": 20},
    )
    assert world.until(985)["2"].holdings[0].start == 1012
    assert world.until(996)["2"].holdings[0].start == 1000
    assert _kept(world.end(), "2") == (LeaseState.DONE, 500, 1500)
    assert world["2"].started == 1000


def test_a_late_suspension_gives_no_reservation_up_for_lost_too_soon(make_world: MakeWorld) -> None:
    """It takes 320 s instead of 32, unexpectedly; the reservation of 400 s gets the rest of its time."""
    world = _suspended_late(
        make_world,
        request("2", RESERVATION, submitted=10, start=1000, duration=400),
        cloud=CloudBehaviour(suspend_factor=10),
    ).end()
    assert _kept(world, "2") == (LeaseState.DONE, 1400 - 1288, 1400)
    assert world["2"].started == 968 + 320


def test_a_reservation_that_is_over_before_its_hosts_are_free_fails_with_the_reason(make_world: MakeWorld) -> None:
    """It fails when it is all but over; until then, nobody knows when its hosts will be free."""
    world = _suspended_late(
        make_world,
        request("2", RESERVATION, submitted=10, start=1000, duration=30),
        cloud=CloudBehaviour(suspend_factor=10),
    ).end()
    assert (world["2"].state, world["2"].ended) == (LeaseState.FAILED, 1029)
    assert world["2"].reason == "its hosts were not free before it was over"


def test_a_reservation_starts_on_hosts_that_are_free_sooner_than_expected(make_world: MakeWorld) -> None:
    """At 1000 the suspension is expected to take until 1032, but it is over at 1016."""
    world = _suspended_late(make_world, request("2", RESERVATION, submitted=10, start=1000, duration=30)).end()
    assert (world["2"].state, world["2"].started, world["2"].ended) == (LeaseState.DONE, 1016, 1030)


def test_a_deadline_lease_that_has_to_wait_is_planned_again(make_world: MakeWorld) -> None:
    """It still meets its deadline, or fails at once."""
    for deadline, state in ((1100 + 32, LeaseState.DONE), (1100 + 31, LeaseState.FAILED)):
        world = _suspended_late(
            make_world, request("2", DEADLINE, submitted=10, start=1000, duration=100, deadline=deadline)
        )
        assert world.until(999)["2"].holdings[0].start == 1000
        world.end()
        assert world["2"].state is state
        assert world["2"].ended == (1132 if state is LeaseState.DONE else 1000)


def test_a_waiting_best_effort_lease_goes_back_to_the_queue(make_world: MakeWorld) -> None:
    """A shutdown that takes three times as long; the next lease starts right after it."""
    world = make_world(
        request("1", RESERVATION, start=0, duration=100),
        request("2", BEST_EFFORT, duration=200),
        hosts=1,
        cloud=CloudBehaviour(stop_factor=3),
        planning={"shutdown_time": 20},
    )
    assert world.until(100)["2"].holdings[0].start == 120
    assert world.until(120)["2"].holdings[0].start == 140
    assert world.until(160)["1"].ended == 160
    assert world["2"].started == 160
    assert world.counters["late_operations"] == 2, "at 120 and at 140, when it gets time until 180"


def test_a_reservation_moves_to_other_hosts_and_preempts_there(make_world: MakeWorld) -> None:
    """No host is free, but one has a best-effort lease that may be stopped."""
    world = _suspended_late(
        make_world,
        request("2", BEST_EFFORT, duration=5000, submitted=5),
        request("3", RESERVATION, submitted=10, start=1000, duration=500),
        hosts=2,
        cloud=CloudBehaviour(suspend_factor=4),
    ).end()
    assert (world["3"].started, world["3"].state) == (1000, LeaseState.DONE)
    assert world.counters["moved_reservations"] >= 1
    assert [_kept(world, i)[:2] for i in "12"] == [(LeaseState.DONE, 5000)] * 2


# Another host is free, but its servers have to leave it first, which takes up to the preparation time.
@pytest.mark.parametrize(
    ("stop_seconds", "preparation_time", "started", "is_moved"),
    [
        (10, 60, 1010, False),
        (30, 60, 1030, False),
        # It gets 10, 10 and 20 s more. A further 40 s would cost more than a move.
        (45, 60, 1040, True),
        (1_000, 60, 1040, True),
        (10, 8, 1001, True),
        (10, 0, 1001, True),
    ],
)
def test_a_reservation_waits_for_its_hosts_if_that_costs_less_than_moving(
    make_world: MakeWorld, stop_seconds: int, preparation_time: int, started: int, is_moved: bool
) -> None:
    """The lease before it ends at 1000 and takes some seconds to leave; the reservation begins 1 s later."""
    world = make_world(
        request("1", RESERVATION, start=0, duration=1000),
        request("2", RESERVATION, start=1001, duration=500),
        hosts=2,
        cloud=CloudBehaviour(measured={OperationKind.STOP: (stop_seconds,)}),
        engine={"preparation_time": preparation_time},
    )
    before = world.until(900)["2"].holdings[0].assignment
    assert before == world["1"].holdings[0].assignment
    world.until(1050)
    assert world["2"].started == started
    assert (world["2"].holdings[0].assignment != before) == is_moved
    assert world.counters["moved_reservations"] == is_moved
    assert _kept(world.end(), "2") == (LeaseState.DONE, 1501 - started, 1501 + stop_seconds)


def test_a_reservation_that_would_be_over_by_then_moves_at_once(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", RESERVATION, start=0, duration=1000),
        request("2", RESERVATION, start=1001, duration=8),
        hosts=2,
        cloud=CloudBehaviour(measured={OperationKind.STOP: (30,)}),
        engine={"preparation_time": 60},
    ).until(1001)
    assert world["2"].started == 1001
    assert world.counters["moved_reservations"] == 1


def test_a_late_resumption_is_made_up_for(make_world: MakeWorld) -> None:
    """32 s are planned and 64 s taken."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=10, start=1000, duration=500),
        hosts=1,
        cloud=CloudBehaviour(resume_factor=2),
    ).end()
    assert _kept(world, "1") == (LeaseState.DONE, 2000, 1500 + 64 + (2000 - 968))


def test_memory_that_is_moved_slower_than_planned_resumes_when_it_has_arrived(make_world: MakeWorld) -> None:
    """haizea F54: at 100 Mb/s, 82 s are planned and 123 s taken."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, start=0, duration=1100),
        request("3", RESERVATION, submitted=10, start=1000, duration=5000),
        hosts=2,
        cloud=CloudBehaviour(transfer_factor=1.5),
        planning={"migration": Migration.YES, "migration_bandwidth": 100.0},
    ).end()
    assert _kept(world, "1") == (LeaseState.DONE, 2000, 1000 + 123 + 32 + (2000 - 968))
    assert world.counters["migrations"] == 1


def test_memory_that_is_back_early_waits_for_the_planned_instant(make_world: MakeWorld) -> None:
    """Resumption takes 16 of 32 s: the run starts and ends as planned."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=10, start=1000, duration=500),
        hosts=1,
        cloud=CloudBehaviour(resume_factor=0.5),
    )
    assert world.until(1516)["1"].state is LeaseState.RESUMED_READY
    assert _kept(world.end(), "1") == (LeaseState.DONE, 2000, 1500 + 32 + (2000 - 968))


def test_hosts_that_are_free_early_are_used_at_once(make_world: MakeWorld) -> None:
    """haizea F49: a shutdown of 100 s takes 50 s; the leases behind it move up."""
    world = make_world(
        request("1", RESERVATION, start=0, duration=900),
        request("2", BEST_EFFORT, duration=500),
        hosts=1,
        cloud=CloudBehaviour(stop_factor=0.5),
        planning={"shutdown_time": 100},
    )
    assert world.until(900)["2"].holdings[0].start == 1000
    assert world.end()["2"].started == 950


def test_a_shutdown_that_fails_ends_the_lease_all_the_same(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing may keep the hosts from the next lease."""
    monkeypatch.setattr(CloudBehaviour, "fails", lambda _, kind, random: kind is OperationKind.STOP)
    world = make_world(request("1", RESERVATION, start=0, duration=100), hosts=1, planning={"shutdown_time": 10}).end()
    assert _kept(world, "1") == (LeaseState.DONE, 100, 110)
    assert world["1"].reason == "its VMs had to be destroyed: stop failed on host 0"


def test_a_boot_that_outlasts_its_place_begins_anew_where_somebody_was_promised_the_hosts(
    make_world: MakeWorld,
) -> None:
    """The place ends at 100, when a reservation starts there; the boot of 150 s is repeated behind it."""
    world = make_world(
        request("1", RESERVATION, start=100, duration=1000),
        request("2", BEST_EFFORT, duration=100, submitted=0),
        hosts=1,
        cloud=CloudBehaviour(boot_time=150),
    ).end()
    assert (world["1"].started, world["1"].ended) == (250, 1100)
    assert _kept(world, "2") == (LeaseState.DONE, 100, 1100 + 150 + 100)


# -- failed resumptions, hosts ------------------------------------------------------------------------------


def test_a_resumption_that_always_fails_is_given_up(make_world: MakeWorld) -> None:
    """After a failure the saved work is suspended again and retried; after two failures the lease fails."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        *(request(str(n), RESERVATION, submitted=10, start=1000 * (n - 1), duration=100) for n in range(2, 6)),
        hosts=1,
        cloud=CloudBehaviour(resume_failure_probability=1.0),
        engine={"boot_attempts": 2},
    ).end()
    assert world["1"].state is LeaseState.FAILED
    assert world["1"].reason.startswith("resume failed 2 times, last: resume failed on host 0")
    assert world.counters["failed_operations"] == 2


@pytest.mark.parametrize(("instant", "ended"), [(1000, 1100), (1090, 1090)])
def test_what_had_run_to_its_end_is_done_though_its_host_dies(make_world: MakeWorld, instant: int, ended: int) -> None:
    """At the very second of the end, when it is stopped as planned, or in the shutdown."""
    world = make_world(
        request("1", RESERVATION, start=0, duration=1000),
        hosts=1,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=instant, duration=100),)),
        planning={"shutdown_time": 100},
    ).end()
    assert _kept(world, "1") == (LeaseState.DONE, 1000, ended)


def test_what_was_being_saved_on_a_dead_host_is_lost(make_world: MakeWorld) -> None:
    """The suspension lasts from 997 to 1100, the host dies at 1000 and is back in time for the reservation."""
    world = make_world(
        request("1", BEST_EFFORT, duration=3000),
        request("2", RESERVATION, submitted=10, start=1100, duration=500),
        hosts=1,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=1000, duration=90),)),
        planning={"suspend_rate": 10.0},
        engine={"host_repair_time": 90},
    )
    assert world.until(999)["1"].state is LeaseState.SUSPENDING
    assert _kept(world.end(), "2") == (LeaseState.DONE, 500, 1600)
    assert _kept(world, "1") == (LeaseState.DONE, 3000, 1600 + 3000)


def test_memory_on_a_dead_host_is_lost_while_it_moves(make_world: MakeWorld) -> None:
    """haizea F54: the host with the memory dies 20 s into the transfer of 82 s."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, start=0, duration=1100),
        request("3", RESERVATION, submitted=10, start=1000, duration=5000),
        hosts=2,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=1, instant=1020, duration=9000),)),
        planning={"migration": Migration.YES, "migration_bandwidth": 100.0},
    )
    assert world.until(1019)["1"].state is LeaseState.MIGRATING
    origin = world["1"].saved_on
    assert origin == (1,), "else the scenario has changed"
    # The second reservation lost its host too, continues at 1100 on the first one's host, and ends as promised.
    assert _kept(world.end(), "3") == (LeaseState.DONE, 5000, 6000)
    assert _kept(world, "1") == (LeaseState.DONE, 2000, 6000 + 2000)


@pytest.mark.parametrize(("deadline", "state"), [(9000, LeaseState.DONE), (1500, LeaseState.FAILED)])
def test_a_deadline_lease_that_is_planned_on_a_dead_host_moves_or_fails(
    make_world: MakeWorld, deadline: int, state: LeaseState
) -> None:
    """Its only host is away for 1,000 s."""
    world = make_world(
        request("1", DEADLINE, start=700, duration=500, deadline=deadline),
        hosts=1,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=500, duration=1000),)),
    ).end()
    assert world["1"].state is state
    assert world["1"].ended == (2000 if state is LeaseState.DONE else 500)
    assert (world["1"].reason != "") is (state is LeaseState.FAILED)


def test_a_host_that_dies_twice_is_counted_once_at_a_time(make_world: MakeWorld) -> None:
    """A repeated report that a host is down or up changes nothing."""
    failures = (HostFailure(host=0, instant=100, duration=400), HostFailure(host=0, instant=200, duration=500))
    world = make_world(
        request("1", BEST_EFFORT, 2, submitted=150, duration=10), cloud=CloudBehaviour(host_failures=failures)
    ).end()
    assert world.counters["host_failures"] == 1
    assert (world["1"].started, world["1"].state) == (500, LeaseState.DONE)


def test_a_boot_on_a_host_that_dies_begins_elsewhere(make_world: MakeWorld) -> None:
    """haizea F95: for every kind; only a lease whose promise is about work has to be in time."""
    cloud = CloudBehaviour(boot_time=100, host_failures=(HostFailure(host=0, instant=50, duration=5000),))
    for kind, terms, end in (
        (RESERVATION, {"start": 0}, 1000),
        (BEST_EFFORT, {}, 1150),
        (DEADLINE, {"start": 0, "deadline": 1150}, 1150),
    ):
        world = make_world(request("1", kind, **terms), cloud=cloud).end()
        assert (world["1"].state, world["1"].started, world["1"].ended) == (LeaseState.DONE, 150, end)


def test_a_place_that_memory_is_on_its_way_to_may_be_lost(make_world: MakeWorld) -> None:
    """haizea F54: the host to which it moves dies 20 s into the transfer; it starts over when that host is back."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, start=0, duration=1100),
        request("3", RESERVATION, submitted=10, start=1000, duration=5000),
        hosts=2,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=1020, duration=80),)),
        planning={"migration": Migration.YES, "migration_bandwidth": 100.0},
    )
    assert world.until(1019)["1"].state is LeaseState.MIGRATING
    assert world["1"].holdings[0].assignment == (0,)
    assert _kept(world.end(), "1") == (LeaseState.DONE, 2000, 1100 + 2000)


def test_a_host_that_stays_away_longer_is_no_place_for_a_promise(make_world: MakeWorld) -> None:
    """It was expected back at 600; at 600 the reservation moves elsewhere and preempts the lease there."""
    world = make_world(
        request("1", RESERVATION, 2, start=600, duration=100),
        request("2", BEST_EFFORT, duration=5000, submitted=510),
        hosts=3,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=500, duration=5000),)),
        engine={"host_repair_time": 100},
    ).end()
    assert (world["1"].started, world["1"].ended, world["1"].state) == (600, 700, LeaseState.DONE)
    assert _kept(world, "2")[:2] == (LeaseState.DONE, 5000)
    assert world.counters["moved_reservations"] == 1


# -- the rest of a lease that runs elsewhere -----------------------------------------------------------------


def _on(asked: LeaseRequest, host: str) -> LeaseRequest:
    (node_set,) = asked.nodes
    return replace(asked, nodes=(replace(node_set, hosts=frozenset({host})),))


@pytest.mark.parametrize(("free_from", "rest"), [(2119, [(1, 1005)]), (2118, [])])
def test_a_rest_that_has_no_place_for_now_is_looked_after_when_the_memory_is_saved(
    make_world: MakeWorld, free_from: int, rest: list[tuple[int, int]]
) -> None:
    """The shutdown that should be over at 995 is expected to last until 1005 and is over at 998.

    The lease is to continue there for 1114 s. Even if that is too long for the time until the hosts are promised to
    others, it does not fail while its memory is being saved: the hosts may be free in time, as they are here.
    """
    world = make_world(
        request("1", DEADLINE, start=0, duration=2000, deadline=9000),
        _on(request("2", RESERVATION, start=0, duration=985), "host-2"),
        _on(request("3", DEADLINE, start=1000, duration=3000, deadline=4100), "host-1"),
        _on(request("4", RESERVATION, submitted=50, start=free_from, duration=9000), "host-2"),
        _on(request("5", RESERVATION, submitted=50, start=4010, duration=9000), "host-1"),
        hosts=2,
        cloud=CloudBehaviour(boot_time=40, stop_factor=1.3),
        planning={"shutdown_time": 10, "migration": Migration.YES_NO_TRANSFER, "slack_threshold": 2.0},
    )
    assert [(r.assignment[0], r.start) for r in world.until(994)["1"].holdings] == [(0, 0), (1, 1000)]
    assert [(r.assignment[0], r.start) for r in world.until(995)["1"].holdings] == [(0, 0), *rest]
    assert _kept(world.end(), "1")[:2] == (LeaseState.DONE, 2000)


def test_a_rest_that_starts_over_is_moved_at_once(make_world: MakeWorld) -> None:
    """The lease that loses its work at 1000 is to start over on host-3, where a shutdown is late; host-2 is free."""
    world = make_world(
        request("1", DEADLINE, start=0, duration=2000, deadline=9000),
        _on(request("2", RESERVATION, start=0, duration=985), "host-3"),
        _on(request("4", RESERVATION, start=4010, duration=3000), "host-1"),
        _on(request("3", DEADLINE, submitted=10, start=1000, duration=3000, deadline=4100), "host-1"),
        hosts=3,
        cloud=CloudBehaviour(stop_factor=4),
        planning={"shutdown_time": 10, "suspension": Suspension.NONE, "preempt_at": PreemptAt.START},
    )
    assert [(r.assignment[0], r.start) for r in world.until(50)["1"].holdings] == [(0, 0), (1, 4010)]
    world.run.engine.move("1", frozenset({"host-2"}))
    assert [(r.assignment[0], r.start) for r in world.until(994)["1"].holdings] == [(0, 0), (2, 1000)]
    assert [(r.assignment[0], r.start) for r in world.until(995)["1"].holdings] == [(0, 0), (1, 1000)]
    assert _kept(world.end(), "1") == (LeaseState.DONE, 2000, 3000 + 4 * 10)


# -- late victims --------------------------------------------------------------------------------------------


def _late_victims(make_world: MakeWorld, suspension: int, asked: LeaseRequest, *, hosts: int = 3) -> World:
    """Return a run with a best-effort lease on each host, and a reservation that preempts one of them, or some.

    A suspension takes 1 s by the model, and 15 s more may pass until a reservation is late.

    :param suspension: seconds that a suspension really takes
    """
    work = [request(f"work-{number}", BEST_EFFORT, duration=5000) for number in range(hosts)]
    return make_world(
        *work,
        asked,
        hosts=hosts,
        cloud=CloudBehaviour(suspend_factor=suspension),
        planning={"room_lead": RoomLead.STRICT, "override_suspend_time": 1, "suspend_buffer": 15},
    )


def _reservation(nodes: int = 1, duration: int = 500) -> LeaseRequest:
    return request("asked", RESERVATION, nodes, submitted=10, start=1000, duration=duration)


def _preempted(world: World) -> list[str]:
    """Return the best-effort leases that have been suspended, or will be."""
    return [
        lease.lease_id
        for lease in world.run.store.load()
        if lease.kind is BEST_EFFORT and (not lease.holdings or lease.holdings[0].closing is Closing.SUSPEND)
    ]


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("suspension", [14, 20, 30, 40, 70, 85])
def test_no_other_leases_are_suspended_because_suspensions_are_late(
    make_world: MakeWorld, suspension: int, nodes: int
) -> None:
    """They would be as late. The reservation starts as soon as its victims are suspended, at 984 + suspension."""
    world = _late_victims(make_world, suspension, _reservation(nodes)).until(1150)
    assert world.counters["suspensions"] == nodes
    assert world["asked"].started == max(1000, 984 + suspension)
    world.end()
    assert world["asked"].ended == 1500
    assert [_kept(world, f"work-{number}")[:2] for number in range(3)] == [(LeaseState.DONE, 5000)] * 3
    assert "preemptions_with_loss" not in world.counters


def test_others_are_suspended_after_a_minute_because_a_late_suspension_may_never_end(make_world: MakeWorld) -> None:
    """The reservation is expected to start at 1072 up to then. It starts where hosts come free first: at 1284."""
    world = _late_victims(make_world, 300, _reservation())
    assert len(_preempted(world.until(1071))) == 1
    assert len(_preempted(world.until(1072))) == 2
    assert world.until(1300)["asked"].started == 984 + 300
    assert _kept(world.end(), "asked")[2] == 1500


def test_others_are_suspended_for_a_reservation_that_would_be_over_before_the_late_suspension(
    make_world: MakeWorld,
) -> None:
    """At 995 the suspension is expected to end at 1006, which is the end of the reservation."""
    world = _late_victims(make_world, 12, _reservation(duration=6))
    assert len(_preempted(world.until(994))) == 1
    assert len(_preempted(world.until(995))) == 2
    assert world.end()["asked"].state is LeaseState.DONE


def test_a_reservation_prefers_hosts_that_are_free_to_those_of_late_victims(make_world: MakeWorld) -> None:
    world = _late_victims(make_world, 30, _reservation()).until(990)
    world.run.engine.cancel(next(f"work-{n}" for n in range(3) if f"work-{n}" not in _preempted(world)))
    world.end()
    assert world["asked"].started == 1000
    assert world.counters["suspensions"] == 1
