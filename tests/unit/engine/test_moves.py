"""Moving leases off hosts, as an operator does before working on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal

from .conftest import SUSPENDED_WORK, MakeWorld, World, request

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE


def _names(world: World, *hosts: int) -> frozenset[str]:
    return frozenset(world.run.site.hosts[host].name for host in hosts)


def _move(world: World, lease_id: str, *hosts: int) -> Change:
    return world.run.engine.move(lease_id, _names(world, *hosts), "for new memory")


def _refused(world: World, lease_id: str, *hosts: int) -> Refusal:
    """Return why a lease cannot be moved off hosts; nothing changes."""
    before = world.run.engine.live_leases()
    with pytest.raises(NoPlaceError) as error:
        _move(world, lease_id, *hosts)
    assert world.run.engine.live_leases() == before
    return error.value.refusal


@pytest.mark.parametrize("kind", [RESERVATION, DEADLINE])
def test_a_lease_that_waits_gets_other_hosts_at_the_same_time(make_world: MakeWorld, kind: LeaseKind) -> None:
    """Its VM on another host stays there, and the lease says why."""
    terms = {"deadline": 5000} if kind is DEADLINE else {}
    world = make_world(request("1", kind, 2, 1000, start=100, **terms), hosts=4).until(50)
    left, kept = world["1"].holdings[0].assignment
    moved = _move(world, "1", left)
    (holding,) = moved.after.holdings
    assert (holding.start, holding.run_end, holding.assignment[1]) == (100, 1100, kept)
    assert holding.assignment[0] not in (left, kept)
    assert (moved.stays, moved.moved, moved.after.reason) == ((0, 1), (0,), "for new memory")
    assert moved.after == world["1"]
    assert world.end()["1"].ended == 1100


def test_a_lease_that_waits_is_not_moved_to_the_other_host_that_it_has_to_leave(make_world: MakeWorld) -> None:
    """All named hosts are avoided, not only those that it has."""
    world = make_world(request("1", RESERVATION, 1, 1000, start=100), hosts=3).until(50)
    assert _move(world, "1", 0, 1).after.holdings[0].assignment == (2,)
    assert _move(world, "1", 2).after.holdings[0].assignment != (2,)


@pytest.mark.parametrize("kind", [RESERVATION, BEST_EFFORT, DEADLINE])
def test_a_lease_that_runs_goes_on_elsewhere(make_world: MakeWorld, kind: LeaseKind) -> None:
    """From now on, and until the same end; the run so far counts."""
    terms = {RESERVATION: {"start": 0}, DEADLINE: {"start": 0, "deadline": 5000}, BEST_EFFORT: {}}[kind]
    world = make_world(request("1", kind, 2, 1000, **terms), hosts=4).until(400)
    left, kept = world["1"].holdings[0].assignment
    moved = _move(world, "1", left)
    (holding,) = moved.after.holdings
    assert (holding.start, holding.run_end, holding.assignment[1]) == (400, 1000, kept)
    assert (moved.moved, moved.after.accumulated, moved.after.active_since) == ((0,), 400, 400)
    assert (moved.after.state, moved.after.reason) == (LeaseState.ACTIVE, "for new memory")
    lease = world.end()["1"]
    assert (lease.ended, lease.accumulated) == (1000, 1000)


def test_a_lease_that_is_not_there_stays_as_it_is(make_world: MakeWorld) -> None:
    """Even while it cannot be moved at all."""
    world = make_world(*SUSPENDED_WORK, hosts=2, planning={"backfilling_limit": 0}).until(50)
    for lease_id in ("work", "other"):
        before = world[lease_id]
        moved = _move(world, lease_id, *({0, 1} - before.holdings[0].hosts))
        assert (moved.before, moved.after, moved.stays) == (before, before, (0,))
        assert world[lease_id] == before


def test_hosts_that_do_not_exist_are_named(make_world: MakeWorld) -> None:
    """All of them, in the order of their names."""
    world = make_world(request("1", RESERVATION, 1, 1000, start=0), hosts=2).until(50)
    with pytest.raises(InvalidValueError, match="there is no host a, b$") as error:
        world.run.engine.move("1", frozenset({"b", "a"}) | _names(world, 0))
    assert error.value.field == "hosts"


def test_without_other_hosts_a_lease_stays(make_world: MakeWorld) -> None:
    """Reservations do not give way to it."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=0), request("2", RESERVATION, 1, 1000, start=600)
    ).until(50)
    refusal = _refused(world, "1", *world["1"].holdings[0].hosts)
    assert refusal.reason == "capacity"
    (name,) = _names(world, *world["1"].holdings[0].hosts)
    assert refusal.message == f"nodes: no other hosts are free for lease 1 in place of {name}"
    assert world.until(700).run.engine.live_leases() != []


def test_a_lease_is_not_moved_while_it_boots_or_is_suspended(make_world: MakeWorld) -> None:
    """Its servers are neither here nor there."""
    boots = make_world(request("1", RESERVATION, 1, 1000, start=0), cloud=CloudBehaviour(boot_time=40)).until(20)
    refusal = _refused(boots, "1", *boots["1"].holdings[0].hosts)
    assert (refusal.reason, refusal.message[-33:]) == ("busy", "it cannot be moved before it runs")
    leaves = make_world(*SUSPENDED_WORK, hosts=1).until(480)
    assert _refused(leaves, "work", 0).message.endswith("its suspend is going on")


def test_saved_work_comes_back_on_another_host(make_world: MakeWorld) -> None:
    """A deadline lease is to be resumed where the operator wants to work; its saved memory moves."""
    world = make_world(
        request("1", DEADLINE, 1, 1000, start=0, deadline=9000),
        request("2", RESERVATION, 2, 300, submitted=10, start=500),
    ).until(600)
    assert world["1"].state is LeaseState.SUSPENDED_SCHEDULED
    (host,) = world["1"].holdings[0].hosts
    (holding,) = _move(world, "1", host).after.holdings
    assert holding.hosts == {1 - host}
    lease = world.end()["1"]
    assert (lease.state, lease.accumulated) == (LeaseState.DONE, 1000)


def test_only_the_rest_of_a_deadline_lease_moves_if_only_that_is_on_the_hosts(make_world: MakeWorld) -> None:
    """It runs on, and will be suspended for a reservation as planned; the rest is planned for another host."""
    named = request("3", RESERVATION, 1, 3000, submitted=10, start=1000)
    named = replace(named, nodes=(replace(named.nodes[0], hosts=frozenset({"host-1"})),))
    world = make_world(
        request("1", DEADLINE, 1, 1000, start=0, deadline=9000),
        named,
        request("2", RESERVATION, 3, 300, submitted=20, start=500),
        hosts=3,
    ).until(100)
    first, rest = world["1"].holdings
    assert (set(first.hosts), set(rest.hosts)) == ({0}, {1})
    moved = _move(world, "1", *rest.hosts)
    assert moved.after.holdings[0] == first
    assert moved.after.holdings[1].hosts.isdisjoint(rest.hosts)
    assert (moved.after.accumulated, moved.after.active_since, moved.after.reason) == (0, 0, "for new memory")
    lease = world.end()["1"]
    assert (lease.state, lease.accumulated) == (LeaseState.DONE, 1000)


def test_a_lease_that_runs_is_not_moved_to_hosts_that_are_left_late(make_world: MakeWorld) -> None:
    """The lease there should be suspended by now and is not; the next second shows when it is."""
    world = make_world(
        request("2", BEST_EFFORT, 1, 1000),
        request("1", RESERVATION, 1, 1000, start=0),
        request("3", RESERVATION, 1, 50, submitted=10, start=500),
        cloud=CloudBehaviour(suspend_factor=2.0),
    )
    (kept,) = world.until(100)["2"].holdings[0].hosts
    world.until(499).run.clock.set(551)
    assert _refused(world, "1", 1 - kept).reason == "capacity"
