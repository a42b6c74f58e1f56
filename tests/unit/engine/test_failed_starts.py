"""Starts that fail because of a fault of the cloud, on a pool that is full."""

from __future__ import annotations

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostOccupation
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from tests.unit.engine.conftest import MakeWorld, World, request

RESERVATION, IMMEDIATE = LeaseKind.RESERVATION, LeaseKind.IMMEDIATE

_SERVICE = {"boot_attempts": 2, "keeps_saved_work": True}


def _in_a_fault(make_world: MakeWorld, kind: LeaseKind, duration: int = 50, **engine: object) -> World:
    """Return a run with one host, on which no boot succeeds; the lease is from 100 on."""
    terms = {"start": 100} if kind is RESERVATION else {"submitted": 100}
    lease = request("1", kind, duration=duration, **terms)
    cloud = CloudBehaviour(boot_failure_probability=1.0)
    return make_world(lease, hosts=1, cloud=cloud, engine={**_SERVICE, **engine})


def _state(world: World) -> LeaseState:
    return world["1"].state


@pytest.mark.parametrize("kind", [RESERVATION, IMMEDIATE])
def test_a_lease_starts_within_seconds_of_the_end_of_a_fault(make_world: MakeWorld, kind: LeaseKind) -> None:
    world = _in_a_fault(make_world, kind).until(139)
    assert _state(world) is LeaseState.READY
    assert "its start has failed" in world["1"].reason
    world.run.cloud._behaviour = CloudBehaviour()
    world.until(145)
    assert _state(world) is LeaseState.ACTIVE
    world.end()
    assert _state(world) is LeaseState.DONE
    # It keeps its end.
    assert world["1"].ended == 150


def test_a_lease_fails_with_its_interval(make_world: MakeWorld) -> None:
    world = _in_a_fault(make_world, RESERVATION).end()
    assert _state(world) is LeaseState.FAILED
    assert "start failed" in world["1"].reason


def test_attempts_become_rare_when_they_stay_hopeless(make_world: MakeWorld) -> None:
    world = _in_a_fault(make_world, RESERVATION, duration=7_200).end()
    assert _state(world) is LeaseState.FAILED
    assert world.counters["failed_boots"] < 200


@pytest.mark.parametrize("duration", range(120, 360, 40))
def test_a_start_is_tried_once_more_before_the_end_however_long_the_pause(make_world: MakeWorld, duration: int) -> None:
    """The fault is over for the last third of a minute."""
    world = _in_a_fault(make_world, RESERVATION, duration=duration).until(100 + duration - 20)
    assert _state(world) is LeaseState.READY
    world.run.cloud._behaviour = CloudBehaviour()
    world.end()
    assert (_state(world), world["1"].ended) == (LeaseState.DONE, 100 + duration)


def test_other_hosts_are_tried_first(make_world: MakeWorld) -> None:
    lease = request("1", RESERVATION, start=100, duration=50)
    cloud = CloudBehaviour(boot_failure_probability=1.0)
    world = make_world(lease, hosts=2, cloud=cloud, engine=_SERVICE).until(100)
    assert world.counters["moved_reservations"] == 1


def test_without_the_option_it_fails_after_some_attempts(make_world: MakeWorld) -> None:
    """As in simulations."""
    world = _in_a_fault(make_world, RESERVATION, keeps_saved_work=False).until(110)
    assert _state(world) is LeaseState.FAILED


def test_a_short_lease_looks_often_whether_its_host_is_free_again(make_world: MakeWorld) -> None:
    """Servers of the lease before may stay for as long as Nova does not answer."""
    lease = request("1", RESERVATION, start=100, duration=40)
    cloud = CloudBehaviour(occupations=(HostOccupation(0, 0, 125),))
    world = make_world(lease, hosts=1, cloud=cloud, engine=_SERVICE).until(135)
    assert _state(world) is LeaseState.ACTIVE
