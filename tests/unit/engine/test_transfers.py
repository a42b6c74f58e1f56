"""Transfers of disk images in the engine (haizea F60, F95)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import Ports
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.transfers.options import Reuse, TransferOptions
from lease_scheduler.simulation.cloud import InMemoryCloud

from .conftest import World, request

MakeWorld = Callable[..., World]

#: 82 s at 100 Mb/s.
_X = DiskImage("x", 1024)
_NO_POOLS = TransferOptions(bandwidth=100)
_POOLS = TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES)


def _reserved(lease_id: str, start: int, nodes: int = 1, **terms: Any) -> LeaseRequest:
    return request(lease_id, LeaseKind.RESERVATION, nodes, start=start, software=terms.pop("software", _X), **terms)


def test_a_lease_goes_through_its_preparation(make_world: MakeWorld) -> None:
    """haizea F15: scheduled, preparing while its image is being transferred, ready, active."""
    world = make_world(_reserved("1", 900), transfers=_NO_POOLS)

    states = [world.until(instant)["1"].state for instant in (0, 817, 818, 899, 900)]

    assert [state.value for state in states] == ["scheduled", "scheduled", "preparing", "preparing", "active"]
    assert world.counters["image_transfers"] == 1


def test_a_late_transfer_makes_a_reservation_late_and_keeps_its_end(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(image_transfer_factor=2)
    world = make_world(_reserved("1", 900), cloud=cloud, transfers=_NO_POOLS).end()

    assert (world["1"].state, world["1"].started, world["1"].ended) == (LeaseState.DONE, 982, 1900)
    assert world.counters["late_starts"] == 1


def test_transfers_behind_a_late_one_wait_for_it(make_world: MakeWorld) -> None:
    """There is only one channel."""
    cloud = CloudBehaviour(image_transfer_factor=1.5)
    leases = (_reserved("1", 900), _reserved("2", 910, software=DiskImage("y", 1024)))
    world = make_world(*leases, cloud=cloud, transfers=_NO_POOLS).end()

    # Planned for 746-828 and 828-910.
    assert (world["1"].started, world["2"].started) == (900, 746 + 2 * 123)


def test_a_best_effort_lease_that_starts_late_runs_for_as_long(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(image_transfer_factor=2)
    world = make_world(request("1", LeaseKind.BEST_EFFORT, software=_X), cloud=cloud, transfers=_NO_POOLS).end()

    assert (world["1"].started, world["1"].ended, world["1"].accumulated) == (164, 1164, 1000)


def test_a_short_lease_starts_though_every_transfer_is_late(make_world: MakeWorld) -> None:
    """Its place is over when the image arrives; the image is kept for its next place, in spite of the option."""
    cloud = CloudBehaviour(image_transfer_factor=3)
    options = replace(_NO_POOLS, keep_replanned=False)
    short = request("1", LeaseKind.BEST_EFFORT, duration=4, software=_X)
    world = make_world(short, cloud=cloud, transfers=options).until(1000)

    assert (world["1"].state, world["1"].started) == (LeaseState.DONE, 246)
    assert world.counters["image_transfers"] == 1


def test_a_transfer_that_fails_is_tried_again_and_not_for_ever(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(image_transfer_failure_probability=1)
    world = make_world(_reserved("1", 900), cloud=cloud, transfers=_NO_POOLS).end()

    assert world["1"].state is LeaseState.FAILED
    assert "image" in world["1"].reason
    assert world.counters["failed_transfers"] == 3
    assert world["1"].ended == 900 + 2 * 82


def test_one_failure_is_made_good(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(image_transfer_failure_probability=0.5, seed=7)
    world = make_world(_reserved("1", 900), cloud=cloud, transfers=_NO_POOLS).end()

    failed = world.counters["failed_transfers"]
    assert 0 < failed < 3, "choose another seed"
    assert (world["1"].state, world["1"].started) == (LeaseState.DONE, 900 + failed * 82)


def test_a_cancelled_lease_leaves_the_channel_free(make_world: MakeWorld) -> None:
    world = make_world(_reserved("1", 900), transfers=_NO_POOLS).until(10)

    world.run.engine.cancel("1")

    assert world.run.planner.plan.images is not None
    assert world.run.planner.plan.images.transfers == ()
    assert world.run.engine.next_due() is None


def test_what_a_dead_host_kept_is_brought_again(make_world: MakeWorld) -> None:
    """The second lease relies on the image of the first one; the host dies and comes back in between."""
    cloud = CloudBehaviour(host_failures=(HostFailure(0, 2500, 10),))
    leases = (_reserved("1", 900), _reserved("2", 9000, submitted=2000))
    world = make_world(*leases, hosts=1, cloud=cloud, engine={"host_repair_time": 10}, transfers=_POOLS)

    assert world.until(2400)["2"].state is LeaseState.READY
    assert world.until(2600)["2"].state is LeaseState.SCHEDULED
    assert world.until(9000)["2"].state is LeaseState.ACTIVE
    assert world.counters["image_transfers"] == 2


def test_what_was_reused_shared_and_evicted_is_counted(make_world: MakeWorld) -> None:
    """haizea F63, F65: numbers of hosts."""
    small = TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES, cache_size_mb=1500)
    leases = (
        _reserved("1", 900, 2, duration=100),
        _reserved("2", 1100, 1, duration=100),
        _reserved("3", 3000, 1, duration=100, submitted=2000),
        _reserved("4", 5000, 2, duration=100, submitted=4000, software=DiskImage("y", 1024)),
    )
    world = make_world(*leases, transfers=small).end()

    counted = {name: world.counters[name] for name in ("image_transfers", "transferred_images")}
    assert counted == {"image_transfers": 2, "transferred_images": 4}
    assert world.counters["shared_images"] == 1
    assert world.counters["reused_images"] == 1
    assert world.counters["evicted_images"] == 2


def test_an_engine_whose_cloud_brings_no_images_is_refused(make_world: MakeWorld) -> None:
    run = make_world(_reserved("1", 900), transfers=_NO_POOLS).run
    cloud = InMemoryCloud(CloudBehaviour(), {})

    with pytest.raises(InvalidValueError, match="transfers"):
        Engine(run.planner, run.policies, Ports(run.clock, cloud, run.store, run.recorder), EngineOptions())


def test_who_waited_for_an_image_starts_when_nobody_brings_images_any_more(make_world: MakeWorld) -> None:
    """An engine that takes over without image transfers."""
    old = make_world(_reserved("1", 900), transfers=_NO_POOLS).until(850)
    assert old["1"].state is LeaseState.PREPARING
    new = make_world()
    new.run.clock.set(850)

    new.run.engine.restore([old["1"]], [], 2)

    restored = new.run.engine.lease("1")
    assert restored is not None
    assert restored.state is LeaseState.READY


def test_an_engine_that_takes_over_has_images_brought_again(make_world: MakeWorld) -> None:
    """Hosts' images are not stored; running leases have their disks."""
    leases = (_reserved("1", 100, duration=1000), _reserved("2", 900))
    old = make_world(*leases, transfers=_NO_POOLS).until(500)
    new = make_world(transfers=_NO_POOLS)
    new.run.clock.set(500)

    new.run.engine.restore([old["1"], old["2"]], [], 3)
    new.until(900)

    assert new["2"].state is LeaseState.ACTIVE
    assert new["2"].holdings[0].assignment != old["1"].holdings[0].assignment


def test_who_is_refused_for_its_image_is_told_so(make_world: MakeWorld) -> None:
    world = make_world(_reserved("1", 81), transfers=_NO_POOLS).end()

    assert world["1"].state is LeaseState.REJECTED
    assert "disk image" in world["1"].reason
