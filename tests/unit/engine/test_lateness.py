"""Buffers that are learnt from the actual times of operations (haizea F95, 7.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.engine.lateness import Lateness
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState

from .conftest import MakeWorld, World, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION
OBSERVED = {"operation_quantile": 0.95, "breach_tolerance": 0}
FIXED = {"breach_tolerance": 0}


def _series(make_world: MakeWorld, cloud: CloudBehaviour, engine: Mapping[str, Any]) -> World:
    """Run a long lease on the only host, which has to make room for six reservations one after the other."""
    holdings = [
        request(f"r{number}", RESERVATION, 1, 300, submitted=10 + number * 2000, start=1000 + number * 2000)
        for number in range(6)
    ]
    return make_world(request("b", BEST_EFFORT, 1, 20_000), *holdings, hosts=1, cloud=cloud, engine=engine).end()


@pytest.mark.parametrize("cloud", [CloudBehaviour(suspend_factor=2), CloudBehaviour(boot_time=40)])
def test_reservations_are_late_without_and_on_time_with_what_was_learnt(
    make_world: MakeWorld, cloud: CloudBehaviour
) -> None:
    """Only the first one can be late; those that are requested afterwards start on time."""
    fixed, observed = (_series(make_world, cloud, engine) for engine in (FIXED, OBSERVED))
    starts = [1000 + number * 2000 for number in range(6)]
    assert all((fixed[f"r{number}"].started or 0) > start for number, start in enumerate(starts))
    assert [observed[f"r{number}"].started for number in range(1, 6)] == starts[1:]
    assert all(observed[f"r{number}"].state is LeaseState.DONE for number in range(6))
    assert observed["b"].accumulated == 20_000
    assert len(observed.run.recorder.breaches) <= 1


def test_a_shutdown_that_takes_longer_is_left_its_time(make_world: MakeWorld) -> None:
    """Two reservations back to back: the second one starts late, or is refused in advance because there is no room."""

    def run(engine: Mapping[str, Any]) -> World:
        pairs = []
        for number in range(2):
            at = 1000 + number * 2000
            pairs.append(request(f"a{number}", RESERVATION, 1, 300, submitted=at - 500, start=at))
            pairs.append(request(f"b{number}", RESERVATION, 1, 300, submitted=at - 490, start=at + 310))
        pairs.append(request("c", RESERVATION, 1, 300, submitted=4500, start=5000))
        pairs.append(request("d", RESERVATION, 1, 300, submitted=4510, start=5330))
        cloud, planning = CloudBehaviour(stop_factor=3), {"shutdown_time": 10}
        return make_world(*pairs, hosts=1, cloud=cloud, planning=planning, engine=engine).end()

    fixed, observed = run(FIXED), run(OBSERVED)
    assert [fixed[f"b{number}"].started for number in range(2)] == [1330, 3330]
    assert (observed["b0"].started, observed["b1"].state) == (1330, LeaseState.REJECTED)
    assert [observed[i].started for i in "cd"] == [5000, 5330]


def test_with_fixed_buffers_nothing_is_watched(make_world: MakeWorld) -> None:
    world = _series(make_world, CloudBehaviour(suspend_factor=2), FIXED)
    assert world.run.engine.take_lateness() == {}
    assert world.run.planner.context.options == world.run.planner.options


def _operation(kind: OperationKind) -> Operation:
    return Operation(kind, "1", (0,), 100, 100)


def test_the_quantile_of_the_last_ones_counts(make_world: MakeWorld) -> None:
    """A suspension is planned to take 32 s; only the last hundred operations count."""
    planner = make_world().run.planner
    lease = Lease(request("1", BEST_EFFORT), 0)
    watched = Lateness(planner, 0.9)
    assert watched.buffer(OperationKind.SUSPEND) == 0
    for seconds in range(10):
        watched.completed(_operation(OperationKind.SUSPEND), lease, 132 + seconds)
    assert watched.buffer(OperationKind.SUSPEND) == 8
    assert planner.context.options.suspend_buffer == 8
    for _ in range(100):
        watched.completed(_operation(OperationKind.SUSPEND), lease, 120)
    assert watched.buffer(OperationKind.SUSPEND) == 0
    assert planner.context.options.suspend_buffer == 0
    assert not watched.completed(_operation(OperationKind.MIGRATE), lease, 900)


def test_what_was_learnt_is_kept(make_world: MakeWorld) -> None:
    first, second = make_world().run.planner, make_world().run.planner
    lease = Lease(request("1", BEST_EFFORT), 0)
    watched = Lateness(first, 1.0)
    watched.completed(_operation(OperationKind.SUSPEND), lease, 142)
    watched.completed(_operation(OperationKind.RESUME), lease, 139)
    watched.completed(_operation(OperationKind.STOP), lease, 105)
    watched.completed(_operation(OperationKind.START), lease, 130)
    kept = watched.take_changes()
    assert kept == {"resume": [7], "start": [30], "stop": [5], "suspend": [10]}
    assert watched.take_changes() == {}
    Lateness(second, 1.0).restore(kept)
    assert second.context.options == first.context.options
    options = second.context.options
    assert (options.suspend_buffer, options.resume_buffer, options.shutdown_time) == (40, 7, 5)
    unwatched = make_world().run.planner
    Lateness(unwatched, None).restore(kept)
    assert unwatched.context.options == unwatched.options
