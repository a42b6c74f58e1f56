"""The life of leases as planned (haizea F15, F16, F18, F92)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.windows import Window
from lease_scheduler.plan.options import Suspension
from lease_scheduler.simulation.workload import WorkloadLease

from .conftest import VM, MakeWorld, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION


def test_a_lease_goes_through_its_states(make_world: MakeWorld) -> None:
    """haizea F15: suspended for a reservation and resumed behind it."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=100, start=1000, duration=500),
        hosts=1,
        planning={"shutdown_time": 10},
    )
    seen = []
    for instant in (0, 967, 968, 999, 1000, 1509, 1510, 1541, 1542, 2573, 2574, 2583, 2584):
        seen.append(world.until(instant)["1"].state.value)
    assert seen == [
        *("active", "active", "suspending", "suspending", "suspended-scheduled", "suspended-scheduled"),
        *("resuming", "resuming", "active", "active", "active", "active", "done"),
    ]
    done = world["1"]
    assert (done.started, done.ended, done.accumulated) == (0, 2584, 2000)
    assert (world["2"].started, world["2"].ended) == (1000, 1510)


def test_hosts_change_hands_without_a_gap(make_world: MakeWorld) -> None:
    """haizea 4.1, 8.2: at one instant, ends come before starts, and both before the queue."""
    world = make_world(
        request("1", RESERVATION, start=0, duration=100),
        request("2", RESERVATION, start=100, duration=100),
        request("3", BEST_EFFORT, submitted=200, duration=50),
        hosts=1,
    ).until(200)
    assert [world[i].state for i in "123"] == [LeaseState.DONE, LeaseState.DONE, LeaseState.ACTIVE]
    assert world["3"].started == 200


def test_work_that_is_over_early_frees_its_hosts(make_world: MakeWorld) -> None:
    """haizea F49: waiting leases get them at that very second."""
    world = make_world(
        WorkloadLease(request("1", BEST_EFFORT, 2, duration=5000), real_duration=700), request("2", BEST_EFFORT, 2)
    ).end()
    assert (world["1"].ended, world["1"].accumulated, world["1"].state) == (700, 700, LeaseState.DONE)
    assert world["2"].started == 700
    assert world.counters["early_ends"] == 1


@pytest.mark.parametrize(
    ("instant", "state"),
    [
        (50, LeaseState.READY),
        (150, LeaseState.ACTIVE),
        (970, LeaseState.SUSPENDING),
        (1000, LeaseState.SUSPENDED_SCHEDULED),
        (1505, LeaseState.RESUMING),
    ],
)
def test_a_lease_can_be_cancelled_in_any_state(make_world: MakeWorld, instant: int, state: LeaseState) -> None:
    """haizea F16: its hosts are free at once."""
    world = make_world(
        request("0", RESERVATION, start=0, duration=100),
        request("1", BEST_EFFORT, duration=5000),
        request("2", RESERVATION, submitted=200, start=1000, duration=500),
        hosts=1,
    ).until(instant)
    assert world["1"].state is state
    world.run.engine.cancel("1")
    assert world["1"].state is LeaseState.CANCELLED
    assert world["1"].holdings == ()
    assert "1" not in world.run.planner.plan.leases
    world.end()
    assert world["1"].ended == instant
    assert world["2"].state is LeaseState.DONE


def test_what_a_cancelled_lease_held_goes_to_the_queue_at_once(make_world: MakeWorld) -> None:
    """haizea F16, F49."""
    world = make_world(request("1", BEST_EFFORT, 2, 5000), request("2", BEST_EFFORT, 2, 100)).until(300)
    world.run.engine.cancel("1")
    assert (world["2"].state, world["2"].started) == (LeaseState.ACTIVE, 300)
    with pytest.raises(InvalidValueError, match="no live lease 1"):
        world.run.engine.cancel("1")


def test_an_id_is_taken_once(make_world: MakeWorld) -> None:
    world = make_world(request("1", BEST_EFFORT)).end()
    with pytest.raises(InvalidValueError, match="lease 1 exists already"):
        world.run.engine.submit(request("1", BEST_EFFORT))


def test_a_quote_is_admitted_by_what_the_site_can_serve_now(make_world: MakeWorld) -> None:
    """contention F49: aacp lets no request of a peer wait behind another one."""
    world = make_world(
        request("1", LeaseKind.RESERVATION, 1, start=0, duration=1000),
        replace(request("2", LeaseKind.BEST_EFFORT, 1, submitted=10), origin="peer"),
        hosts=1,
        admission="aacp",
    )
    another = replace(request("3", LeaseKind.BEST_EFFORT, 1, submitted=5), origin="peer")
    assert world.until(5).run.engine.quote(another).refusal is None
    refusal = world.until(20).run.engine.quote(replace(another, submitted=20)).refusal
    assert refusal is not None
    assert refusal.reason == "policy"


def test_a_request_larger_than_the_site_is_refused_with_the_reason(make_world: MakeWorld) -> None:
    """haizea 8.2, 20."""
    world = make_world(request("1", BEST_EFFORT, 3), hosts=2).end()
    assert world["1"].state is LeaseState.REJECTED
    assert world["1"].reason.startswith("nodes: 3 nodes are more than the whole site")


def test_a_refusal_names_what_would_fit(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", RESERVATION, 1, start=500, duration=1000), request("2", RESERVATION, 2, start=1000, duration=1000)
    ).end()
    assert world["2"].state is LeaseState.REJECTED
    assert world["2"].reason == (
        "nodes: no place for 2 nodes for 16 min 40 s at that time; taken: host-1; "
        "would fit: the same terms 8 min 20 s later, 1 node"
    )
    silent = make_world(
        request("1", RESERVATION, 2, start=500),
        request("2", RESERVATION, 2, start=1000),
        engine={"explain_refusals": False},
    ).end()
    assert "would fit" not in silent["2"].reason


def test_a_lease_that_cannot_be_suspended_starts_over(make_world: MakeWorld) -> None:
    """haizea F52: stopped when the reservation starts, its work is lost."""
    world = make_world(
        request("1", BEST_EFFORT, duration=1500),
        request("2", RESERVATION, submitted=100, start=1000, duration=100),
        hosts=1,
        planning={"suspension": Suspension.NONE},
    )
    discarded: list[str] = []
    discard = world.run.cloud.discard

    def noted(lease_id: str, now: int) -> None:
        discarded.append(lease_id)
        discard(lease_id, now)

    world.run.cloud.discard = noted  # type: ignore[method-assign]
    assert world.until(999)["1"].state is LeaseState.ACTIVE
    assert discarded == []
    assert world.until(1000)["1"].accumulated == 0
    assert discarded == ["1"], "its servers make room"
    assert world.end()["1"].ended == 2600
    assert world.counters["preemptions_with_loss"] == 1


def test_each_victim_of_a_reservation_is_counted(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, duration=1500),
        request("2", BEST_EFFORT, duration=1500),
        request("3", RESERVATION, 2, submitted=100, start=1000, duration=100),
    ).until(200)
    assert world.counters["preemptions"] == 2


@pytest.mark.parametrize(
    ("instant", "state"),
    [(1010, LeaseState.MIGRATING), (1090, LeaseState.SUSPENDED_SCHEDULED), (1116, LeaseState.RESUMED_READY)],
)
def test_a_lease_can_be_cancelled_on_its_way_back(make_world: MakeWorld, instant: int, state: LeaseState) -> None:
    """haizea F16: while its memory moves from 1000 to 1082, while it waits, and when it is restored 16 s early."""
    world = make_world(
        request("1", BEST_EFFORT, duration=5000),
        request("2", RESERVATION, start=0, duration=1100),
        request("3", RESERVATION, submitted=10, start=1000, duration=500),
        cloud=CloudBehaviour(resume_factor=0.5),
        planning={"migration_bandwidth": 100.0},
    ).until(instant)
    assert world["1"].state is state
    world.run.engine.cancel("1")
    assert (world.end()["1"].state, world["1"].ended) == (LeaseState.CANCELLED, instant)
    assert [world[i].accumulated for i in "23"] == [1100, 500]


def test_a_queued_lease_can_be_cancelled(make_world: MakeWorld) -> None:
    """haizea F16: and the lease behind it moves up."""
    world = make_world(
        *(request(i, BEST_EFFORT, nodes, 1000) for i, nodes in (("1", 1), ("2", 2), ("3", 1))),
        planning={"backfilling_limit": 0},
    ).until(10)
    assert [world[i].state for i in "23"] == [LeaseState.QUEUED] * 2
    world.run.engine.cancel("2")
    assert (world["2"].state, world["3"].state) == (LeaseState.CANCELLED, LeaseState.ACTIVE)


def test_requests_are_decided_on_after_what_ends_at_that_instant(make_world: MakeWorld) -> None:
    """haizea 4.1, 8.2, 16: an immediate lease gets hosts that come free at that very second."""
    world = make_world(
        request("1", RESERVATION, 2, start=0, duration=100),
        request("2", LeaseKind.IMMEDIATE, 2, submitted=99, duration=10),
        request("3", LeaseKind.IMMEDIATE, 2, submitted=100, duration=10),
    ).end()
    assert [world[i].state for i in "23"] == [LeaseState.REJECTED, LeaseState.DONE]
    assert world["3"].started == 100


def test_nothing_new_begins_within_the_lead(make_world: MakeWorld) -> None:
    """haizea 4.1: with a real clock the queue is planned for a little later than now."""
    world = make_world(request("1", BEST_EFFORT, duration=100), engine={"planning_lead": 10}).end()
    assert (world["1"].started, world["1"].ended) == (10, 110)


@pytest.mark.parametrize(("submitted", "accepted"), [(900, False), (800, True)])
def test_a_running_lease_is_left_its_grace(make_world: MakeWorld, submitted: int, accepted: bool) -> None:
    """150 s of grace and 32 s of suspension: a request 100 s before the start is too late."""
    world = make_world(
        request("1", BEST_EFFORT, duration=5000),
        request("2", RESERVATION, submitted=submitted, start=1000, duration=500),
        hosts=1,
        planning={"preemption_grace": 150},
    ).until(submitted)
    assert (world["2"].state is not LeaseState.REJECTED) is accepted
    if accepted:
        assert world["1"].holdings[0].run_end == 1000 - 32 >= submitted + 150
    world.end()
    assert world["1"].accumulated == 5000


@pytest.mark.parametrize("mode", [PreemptionMode.DELETE, PreemptionMode.SHELVE])
def test_grace_is_for_what_runs(make_world: MakeWorld, mode: PreemptionMode) -> None:
    """The first lease has not started when the second one takes its place."""
    world = make_world(
        request("0", RESERVATION, start=0, duration=990),
        request("1", BEST_EFFORT, duration=500, preemption_mode=mode),
        request("2", RESERVATION, submitted=980, start=1000, duration=500),
        hosts=1,
        planning={"preemption_grace": 150},
    ).end()
    assert (world["2"].started, world["1"].started) == (1000, 1500)


def test_room_is_told_from_now_on(make_world: MakeWorld) -> None:
    """Of the project's interval, only what has not passed."""
    world = make_world(request("2", RESERVATION, 1, 1000, start=0), hosts=1).until(500)
    found = world.run.engine.room(NodeSet(1, VM), 100, 3000, 300)
    assert found.free.windows == found.reservable.windows == (Window(1000, 3000, 1),)
    assert world.run.engine.room(NodeSet(1, VM), 1200, 3000, 300).free.earliest == 1200
    world.run.engine.end("2")
    world.run.engine.step()
    assert world.run.engine.room(NodeSet(1, VM), 100, 3000, 300).free.earliest == 500


def test_leases_that_are_not_live_cannot_be_addressed(make_world: MakeWorld) -> None:
    """Neither those that have ended nor those that there never were."""
    world = make_world(request("1", RESERVATION, 1, 100, start=0)).until(0)
    engine, terms = world.run.engine, world["1"].request
    world.end()
    for lease_id in ("1", "2"):
        with pytest.raises(InvalidValueError, match=f"there is no live lease {lease_id}$") as error:
            engine.change(lease_id, terms)
        assert error.value.field == "lease_id"
        with pytest.raises(InvalidValueError, match=f"there is no live lease {lease_id}$"):
            engine.end(lease_id)


def test_an_engine_takes_over_only_what_can_be(make_world: MakeWorld) -> None:
    """Outages are of hosts that there are, numbers go on where they were, and it has no leases of its own."""
    lease = make_world(request("1", RESERVATION, 1, 100, start=50)).until(0)["1"]
    wrong: list[tuple[str, list[Lease], int, dict[str, tuple[int, int | None]]]] = [
        ("outages", [lease], 1, {"x": (0, None)}),
        ("next_sequence", [lease], 0, {}),
    ]
    for field, leases, next_sequence, outages in wrong:
        with pytest.raises(InvalidValueError) as error:
            make_world().run.engine.restore(leases, [], next_sequence, outages)
        assert error.value.field == field
    engine = make_world().run.engine
    engine.restore([lease], [], 1, {"host-2": (0, None)})
    assert engine.live_leases() == [lease]
    assert (engine.next_sequence, engine.hosts.outages) == (1, {"host-2": (0, None)})
    with pytest.raises(InvalidValueError) as error:
        engine.restore([], [], 1)
    assert error.value.field == "leases"
