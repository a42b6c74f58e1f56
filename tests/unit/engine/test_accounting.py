"""The accounted occupation of leases (haizea F43, F84)."""

from __future__ import annotations

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.kinds import LeaseKind

from .conftest import MakeWorld, World, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION


def _occupied(world: World, lease_id: str) -> list[tuple[str, int, int]]:
    found = [each for each in world.run.recorder.occupations if each.lease_id == lease_id]
    return sorted(((each.phase.value, each.start, each.end) for each in found), key=lambda each: each[1])


def test_operations_count_and_the_time_between_does_not(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=100, start=1000, duration=500),
        hosts=1,
        planning={"shutdown_time": 10},
    ).end()
    assert _occupied(world, "1") == [
        ("run", 0, 968),
        ("suspend", 968, 1000),
        ("resume", 1510, 1542),
        ("run", 1542, 2574),
        ("shutdown", 2574, 2584),
    ]


@pytest.mark.parametrize(("instant", "last"), [(980, ("suspend", 968, 980)), (1520, ("resume", 1500, 1520))])
def test_operation_that_is_broken_off_by_its_consumer(
    make_world: MakeWorld, instant: int, last: tuple[str, int, int]
) -> None:
    """The project has had the hosts until then."""
    world = make_world(
        request("1", BEST_EFFORT, duration=2000),
        request("2", RESERVATION, submitted=100, start=1000, duration=500),
        hosts=1,
    ).until(instant)
    world.run.engine.end("1")
    assert _occupied(world.end(), "1")[-1] == last


def test_operation_that_ends_with_its_host(make_world: MakeWorld) -> None:
    """The suspension lasts from 997 to 1100, the host dies at 1000."""
    world = make_world(
        request("1", BEST_EFFORT, duration=3000),
        request("2", RESERVATION, submitted=10, start=1100, duration=500),
        hosts=1,
        cloud=CloudBehaviour(host_failures=(HostFailure(host=0, instant=1000, duration=90),)),
        planning={"suspend_rate": 10.0},
        engine={"host_repair_time": 90},
    ).end()
    assert _occupied(world, "1") == [("run", 0, 997), ("suspend", 997, 1000), ("run", 1600, 4600)]
