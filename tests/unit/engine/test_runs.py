"""What the engine remembers of live leases."""

from __future__ import annotations

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.engine.runs import Run, Runs
from lease_scheduler.model.kinds import LeaseKind
from tests.unit.engine.conftest import MakeWorld, request


def _start(lease_id: str) -> Operation:
    return Operation(OperationKind.START, lease_id, (0,), 0, 0)


def test_operations_come_in_the_order_in_which_they_began() -> None:
    runs = Runs()
    for lease_id in ("a", "b", "c"):
        runs.add(lease_id)
    for lease_id in ("c", "a", "b"):
        runs.begin(_start(lease_id))
    assert runs.end("a") == _start("a")
    assert [operation.lease_id for operation in runs.operations()] == ["c", "b"]
    runs.begin(_start("a"))
    assert [operation.lease_id for operation in runs.operations()] == ["c", "b", "a"]


def test_an_operation_ends_once() -> None:
    runs = Runs()
    runs.begin(_start("a"))
    assert (runs.end("a"), runs.end("a"), runs["a"].operation) == (_start("a"), None, None)


def test_stuck_hosts_are_those_of_all_stuck_leases() -> None:
    runs = Runs()
    for lease_id, hosts in (("a", {1, 2}), ("b", {2, 3})):
        runs.add(lease_id)
        runs.stick(lease_id, frozenset(hosts))
    assert runs.stuck_hosts() == {1, 2, 3}
    assert runs.loosen("a") == {1, 2}
    assert runs.stuck_hosts() == {2, 3}


def test_nothing_is_kept_of_a_lease_that_was_dropped() -> None:
    runs = Runs()
    runs.add("a").failed_boots = 2
    runs.begin(_start("a"))
    runs.stick("a", frozenset({1}))
    runs.fluid["a"] = None
    runs.drop("a")
    assert (dict(runs), runs.operating, runs.fluid, runs.stuck) == ({}, {}, {}, set())
    assert runs["a"] == Run()


def test_reading_about_an_unknown_lease_keeps_no_record() -> None:
    runs = Runs()
    assert runs["a"] == Run()
    assert "a" not in runs


def test_records_live_as_long_as_leases(make_world: MakeWorld) -> None:
    world = make_world(request("1", LeaseKind.RESERVATION, 1, start=10, duration=50), hosts=1).until(20)
    runs = world.run.engine._state.runs
    assert runs.keys() == {"1"}
    assert runs["1"].is_counted
    world.until(1000)
    assert not runs
