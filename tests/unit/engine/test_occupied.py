"""Hosts that a lease cannot have because servers on them do not make room: the rest is delivered."""

from __future__ import annotations

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure, HostOccupation
from lease_scheduler.engine.occupied import LOOK_AGAIN_AFTER
from lease_scheduler.model.breach import BreachKind
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState

from .conftest import MakeWorld, World, request

FAR = 10**6


def _cloud(*hosts: int, start: int = 0, end: int = FAR) -> CloudBehaviour:
    return CloudBehaviour(occupations=tuple(HostOccupation(host, start, end) for host in hosts))


def _hosts(world: World, lease_id: str) -> set[int]:
    return set(world[lease_id].holdings[0].assignment)


@pytest.mark.parametrize("kind", [LeaseKind.RESERVATION, LeaseKind.IMMEDIATE])
def test_another_host_is_taken(make_world: MakeWorld, kind: LeaseKind) -> None:
    start = 100 if kind is LeaseKind.RESERVATION else None
    lease = request("1", kind, 2, submitted=100, start=start, duration=500)
    world = make_world(lease, hosts=4, cloud=_cloud(0)).until(200)
    assert (world["1"].state, world["1"].missing_nodes) == (LeaseState.ACTIVE, 0)
    assert world["1"].started == 100
    assert 0 not in _hosts(world, "1")
    assert world.end()["1"].state is LeaseState.DONE
    assert world.counters["occupied_hosts"] >= 1


def test_several_hosts_are_found_out_one_after_the_other(make_world: MakeWorld) -> None:
    """More often than boots are retried before a lease fails."""
    lease = request("1", LeaseKind.RESERVATION, 1, start=100, duration=500)
    world = make_world(lease, hosts=6, cloud=_cloud(0, 1, 2, 3, 4), engine={"boot_attempts": 2}).until(150)
    assert _hosts(world, "1") == {5}
    assert world["1"].active_since is not None


def test_without_another_host_the_rest_is_handed_over_and_told(make_world: MakeWorld) -> None:
    """The reservation of three hosts gets the two healthy ones; the third counts as missing, and as a breach."""
    lease = request("1", LeaseKind.RESERVATION, 3, start=100, duration=500)
    world = make_world(lease, hosts=3, cloud=_cloud(1)).until(200)
    found = world["1"]
    assert (found.state, found.started, found.missing_nodes) == (LeaseState.ACTIVE, 100, 1)
    assert "do not give way" in found.reason
    assert world.end()["1"].state is LeaseState.DONE
    (breach,) = world.run.recorder.breaches
    assert (breach.kind, breach.node_seconds) == (BreachKind.FEWER_NODES, 500)


def test_the_missing_host_comes_when_it_is_free(make_world: MakeWorld) -> None:
    lease = request("1", LeaseKind.RESERVATION, 3, start=100, duration=500)
    world = make_world(lease, hosts=3, cloud=_cloud(1, end=250)).until(240)
    assert world["1"].missing_nodes == 1
    world.until(250 + LOOK_AGAIN_AFTER)
    assert (world["1"].state, world["1"].missing_nodes) == (LeaseState.ACTIVE, 0)


def test_another_host_that_comes_free_is_taken_for_it(make_world: MakeWorld) -> None:
    first = request("1", LeaseKind.RESERVATION, 1, start=0, duration=200)
    second = request("2", LeaseKind.RESERVATION, 2, start=100, duration=500)
    world = make_world(first, second, hosts=3, cloud=_cloud(1, 2, start=50)).until(150)
    assert world["2"].state == LeaseState.READY
    world.until(200 + 2 * LOOK_AGAIN_AFTER)
    assert (world["2"].state, world["2"].missing_nodes) == (LeaseState.ACTIVE, 1)
    assert 0 in _hosts(world, "2")


def test_one_spare_host_takes_the_place_of_one_of_two(make_world: MakeWorld) -> None:
    lease = request("1", LeaseKind.RESERVATION, 3, start=100, duration=500)
    world = make_world(lease, hosts=4, cloud=_cloud(0, 1)).until(150)
    assert (world["1"].state, world["1"].missing_nodes) == (LeaseState.ACTIVE, 1)
    assert {2, 3} < _hosts(world, "1")


def test_hosts_are_found_out_ahead_of_the_start(make_world: MakeWorld) -> None:
    """A lease that is prepared gets other hosts before its start, or else starts on the rest in time."""
    lease = request("1", LeaseKind.RESERVATION, 2, start=100, duration=500)
    for hosts, missing in ((3, 0), (2, 1)):
        world = make_world(lease, hosts=hosts, cloud=_cloud(0), engine={"preparation_time": 50}).until(99)
        assert world["1"].active_since is None
        world.until(100)
        assert (world["1"].state, world["1"].missing_nodes) == (LeaseState.ACTIVE, missing)
        assert world["1"].started == 100


def test_if_nothing_can_be_had_it_is_tried_until_the_end(make_world: MakeWorld) -> None:
    lease = request("1", LeaseKind.RESERVATION, 1, start=100, duration=500)
    world = make_world(lease, hosts=1, cloud=_cloud(0, end=300)).until(200)
    assert world["1"].state == LeaseState.READY
    world.until(300 + LOOK_AGAIN_AFTER)
    assert world["1"].active_since is not None
    assert world.end()["1"].ended == 600
    never = make_world(lease, hosts=1, cloud=_cloud(0)).end()
    assert never["1"].state is LeaseState.FAILED
    assert "other servers are on them" in never["1"].reason


def test_nobody_else_loses_a_place(make_world: MakeWorld) -> None:
    """Leases that are planned on the host find out for themselves; those that start later are on time."""
    world = make_world(
        request("1", LeaseKind.RESERVATION, 1, start=100, duration=50),
        request("2", LeaseKind.RESERVATION, 1, start=160, duration=50),
        request("3", LeaseKind.RESERVATION, 2, start=400, duration=50),
        hosts=2,
        cloud=_cloud(0, end=350),
    ).end()
    assert [world[lease_id].state for lease_id in "123"] == [LeaseState.DONE] * 3
    assert [world[lease_id].started for lease_id in "123"] == [100, 160, 400]


@pytest.mark.parametrize("kind", [LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE])
def test_others_wait_or_go_elsewhere_as_often_as_it_takes(make_world: MakeWorld, kind: LeaseKind) -> None:
    terms = {"start": 0, "deadline": 5000} if kind is LeaseKind.DEADLINE else {}
    lease = request("1", kind, 1, duration=100, **terms)
    world = make_world(lease, hosts=1, cloud=_cloud(0, end=1000), engine={"boot_attempts": 2}).end()
    assert world["1"].state is LeaseState.DONE
    assert world["1"].started is not None
    assert 1000 <= world["1"].started <= 1000 + 2 * LOOK_AGAIN_AFTER


def test_a_host_for_a_running_lease_is_occupied(make_world: MakeWorld) -> None:
    """It dies, and its replacement is not free: the lease continues without, and gets it later."""
    behaviour = CloudBehaviour(host_failures=(HostFailure(0, 200, 10_000),), occupations=(HostOccupation(2, 0, 400),))
    lease = request("1", LeaseKind.RESERVATION, 2, start=100, duration=900)
    world = make_world(lease, hosts=3, cloud=behaviour).until(300)
    assert _hosts(world, "1") <= {1, 2}
    assert (world["1"].state, world["1"].missing_nodes) == (LeaseState.ACTIVE, 1)
    world.until(400 + LOOK_AGAIN_AFTER)
    assert (_hosts(world, "1"), world["1"].missing_nodes) == ({1, 2}, 0)
