"""Images cached ahead on a cloud whose boots would fetch them anyway (haizea F60-F65, section 7.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import CloudEvent, EventKind, Ports
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.states import LeaseState
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.plan.transfers.options import Mechanism, TransferOptions
from lease_scheduler.simulation.cloud import InMemoryCloud

from .conftest import World, request

MakeWorld = Callable[..., World]

#: 82 s at 100 Mb/s.
_X = DiskImage("x", 1024)
_Y = DiskImage("y", 1024)
_SECONDS = 82

_AHEAD = TransferOptions(bandwidth=100, required=False, host_cache_age=10_000)
_UNICAST = replace(_AHEAD, mechanism=Mechanism.UNICAST)

#: Hosts without an image fetch it when they boot, as fast as a transfer ahead.
_FETCHING = CloudBehaviour(image_bandwidth=100)


def _reserved(lease_id: str, start: int, nodes: int = 1, **terms: Any) -> LeaseRequest:
    return request(lease_id, LeaseKind.RESERVATION, nodes, start=start, software=terms.pop("software", _X), **terms)


def _brought(world: World) -> list[Transfer]:
    """Return a list to which the transfers that start from now on are added."""
    carrier = world.run.cloud
    bring, found = carrier.bring, []

    def noted(transfer: Transfer, now: int) -> None:
        found.append(transfer)
        bring(transfer, now)

    carrier.bring = noted  # type: ignore[method-assign]
    return found


def test_an_image_comes_just_in_time_and_its_lease_is_seen_to_prepare(make_world: MakeWorld) -> None:
    """haizea F15, F62: nothing waits; it could start at any time."""
    world = make_world(_reserved("1", 900), cloud=_FETCHING, transfers=_AHEAD)

    states = [world.until(instant)["1"].state.value for instant in (0, 817, 818, 899, 900)]

    assert states == ["ready", "ready", "preparing", "preparing", "active"]
    assert (world["1"].started, world.counters["image_transfers"]) == (900, 1)


def test_it_is_there_when_the_lease_boots_and_not_when_it_starts(make_world: MakeWorld) -> None:
    """haizea 7.3: the boot itself starts before the lease."""
    cloud = replace(_FETCHING, boot_time=40)
    world = make_world(_reserved("1", 900), cloud=cloud, transfers=_AHEAD, engine={"preparation_time": 60})
    brought = _brought(world)

    assert world.until(758)["1"].state is LeaseState.PREPARING
    assert not world.until(839)["1"].is_prepared
    assert (world.until(840)["1"].state, world["1"].is_prepared) == (LeaseState.READY, True)
    assert world.end()["1"].started == 900
    assert [(each.start, each.end, each.hosts) for each in brought] == [(758, 840, frozenset({0}))]


def test_a_deadline_lease_has_its_image_brought_too(make_world: MakeWorld) -> None:
    terms = request("1", LeaseKind.DEADLINE, start=500, duration=300, deadline=900, software=_X)
    world = make_world(terms, cloud=_FETCHING, transfers=_AHEAD)

    assert world.until(418)["1"].state is LeaseState.PREPARING
    assert world.end()["1"].started == 500


@pytest.mark.parametrize("kind", [LeaseKind.BEST_EFFORT, LeaseKind.IMMEDIATE])
def test_who_begins_at_once_does_not_wait(make_world: MakeWorld, kind: LeaseKind) -> None:
    """Its boot fetches what is missing."""
    world = make_world(request("1", kind, duration=300, software=_X), cloud=_FETCHING, transfers=_AHEAD).end()

    assert world["1"].started == _SECONDS
    assert "image_transfers" not in world.counters


def test_a_lease_at_short_notice_boots_in_the_middle_of_its_transfer(make_world: MakeWorld) -> None:
    world = make_world(_reserved("1", 40), transfers=_AHEAD)

    assert [world.until(instant)["1"].state.value for instant in (0, 39, 40)] == ["preparing", "preparing", "active"]
    assert "late_starts" not in world.end().counters


def test_a_late_transfer_delays_nobody(make_world: MakeWorld) -> None:
    """haizea F95."""
    cloud = CloudBehaviour(image_transfer_factor=5)
    world = make_world(_reserved("1", 900), _reserved("2", 950, software=_Y), cloud=cloud, transfers=_AHEAD).end()

    assert [(world[name].state, world[name].started) for name in "12"] == [
        (LeaseState.DONE, 900),
        (LeaseState.DONE, 950),
    ]
    assert "late_starts" not in world.counters


def test_a_transfer_that_fails_harms_nobody_and_is_not_repeated_at_once(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(image_transfer_failure_probability=1)
    world = make_world(_reserved("1", 900, 2), cloud=cloud, transfers=_AHEAD).end()

    assert (world["1"].state, world["1"].started) == (LeaseState.DONE, 900)
    assert (world.counters["image_transfers"], world.counters["failed_transfers"]) == (1, 1)


def test_one_transfer_serves_leases_of_the_same_image(make_world: MakeWorld) -> None:
    """haizea F65: two leases that start at about the same time on different hosts."""
    world = make_world(_reserved("1", 900), _reserved("2", 950), hosts=2, transfers=_UNICAST)
    brought = _brought(world)
    world.end()

    assert [(each.start, each.hosts) for each in brought] == [(900 - 2 * _SECONDS, frozenset({0, 1}))]
    assert {user.lease_id for user in brought[0].users} == {"1", "2"}


def test_one_after_the_other_earliest_due_date_first(make_world: MakeWorld) -> None:
    """haizea F61, F62: each transfer is as late as those behind it allow."""
    leases = (_reserved("2", 1000, software=_Y), _reserved("1", 900, 2, duration=90))
    world = make_world(*leases, hosts=2, transfers=_UNICAST)
    brought = _brought(world)
    world.end()

    assert [(each.image, each.start, each.end) for each in brought] == [
        (_X, 900 - 2 * _SECONDS, 900),
        (_Y, 918, 1000),
    ]


def test_what_a_host_has_is_not_brought_again_and_such_hosts_come_first(make_world: MakeWorld) -> None:
    """haizea F63, F64: the host has booted it, and keeps it for a while."""
    leases = (
        request("0", LeaseKind.IMMEDIATE, 1, duration=2000),
        _reserved("1", 900, duration=100),
        _reserved("2", 3000, submitted=2500, duration=100),
    )
    world = make_world(*leases, hosts=3, cloud=_FETCHING, transfers=_AHEAD)

    assert world.until(950)["1"].holdings[0].assignment == (1,)
    assert world.until(2600)["2"].holdings[0].assignment == (1,)
    assert world.end().counters["image_transfers"] == 1


def test_it_is_brought_again_when_the_host_has_removed_it(make_world: MakeWorld) -> None:
    options = replace(_AHEAD, host_cache_age=1000)
    leases = (_reserved("1", 900, duration=100), _reserved("2", 2500, duration=100))
    world = make_world(*leases, hosts=1, transfers=options)
    brought = _brought(world)
    world.end()

    assert [each.start for each in brought] == [818, 2500 - _SECONDS]


def test_what_is_used_is_not_removed(make_world: MakeWorld) -> None:
    options = replace(_AHEAD, host_cache_age=1000)
    leases = (_reserved("1", 900, duration=5000), _reserved("2", 6500, duration=100))
    world = make_world(*leases, hosts=1, transfers=options).end()

    assert world.counters["image_transfers"] == 1


def test_the_boot_of_somebody_else_spares_a_transfer(make_world: MakeWorld) -> None:
    """An immediate lease of the same image gets the host meanwhile."""
    world = make_world(
        _reserved("1", 2000, submitted=0),
        request("2", LeaseKind.IMMEDIATE, submitted=500, duration=300, software=_X),
        hosts=1,
        cloud=_FETCHING,
        transfers=_AHEAD,
    ).end()

    assert world["1"].started == 2000
    assert "image_transfers" not in world.counters


def test_the_run_of_an_earlier_reservation_is_counted_on(make_world: MakeWorld) -> None:
    """The reservation's boot fetches the image, or the transfer for it does."""
    world = make_world(_reserved("1", 900, duration=100), _reserved("2", 1500), hosts=1, transfers=_AHEAD).end()

    assert world.counters["image_transfers"] == 1


def test_a_dead_host_has_nothing(make_world: MakeWorld) -> None:
    cloud = CloudBehaviour(host_failures=(HostFailure(0, 2500, 10),))
    leases = (_reserved("1", 900, duration=100), _reserved("2", 9000, submitted=2000))
    options = replace(_AHEAD, host_cache_age=100_000)
    world = make_world(*leases, hosts=1, cloud=cloud, engine={"host_repair_time": 10}, transfers=options).end()

    assert (world["2"].started, world.counters["image_transfers"]) == (9000, 2)


def test_a_lease_that_moves_takes_its_transfer_along(make_world: MakeWorld) -> None:
    """Its host dies while its image comes to it."""
    cloud = CloudBehaviour(host_failures=(HostFailure(0, 850, 10_000),))
    world = make_world(_reserved("1", 1000), hosts=2, cloud=cloud, transfers=replace(_AHEAD, bandwidth=70))
    brought = _brought(world)

    assert world.until(1000)["1"].state is LeaseState.ACTIVE
    assert [(each.start, each.hosts) for each in brought] == [(882, frozenset({1}))]


def test_the_engine_is_told_host_by_host(make_world: MakeWorld) -> None:
    """One host did not get it; the other has it."""
    world = make_world(_reserved("1", 900, 2), transfers=_AHEAD).until(830)
    engine = world.run.engine
    events = [
        CloudEvent(EventKind.COMPLETED, 831, host=0, transfer=1),
        CloudEvent(EventKind.FAILED, 832, host=1, reason="no room", transfer=1),
    ]
    world.run.cloud.take_events = lambda now: [events.pop(0)] if events else []  # type: ignore[method-assign]

    engine.step()

    assert engine.take_cache_changes() == {(0, "x"): CachedImage(0, "x", 830)}
    assert world["1"].state is LeaseState.READY


def test_a_lease_may_be_changed_while_its_image_comes(make_world: MakeWorld) -> None:
    world = make_world(_reserved("1", 900), transfers=_AHEAD).until(850)
    engine = world.run.engine
    lease = engine.lease("1")
    assert lease is not None
    assert lease.state is LeaseState.PREPARING

    engine.change("1", replace(lease.request, start=2000))

    # The image arrives all the same, and is kept until then.
    assert world["1"].state is LeaseState.PREPARING
    assert world.until(900)["1"].state is LeaseState.READY
    assert world.end()["1"].started == 2000
    assert world.counters["image_transfers"] == 1


def test_a_cancelled_lease_needs_no_image(make_world: MakeWorld) -> None:
    world = make_world(_reserved("1", 900), transfers=_AHEAD).until(10)

    world.run.engine.cancel("1")

    assert world.run.engine.next_due() is None


def test_an_engine_that_takes_over_has_brought_what_is_missing(make_world: MakeWorld) -> None:
    """The new engine knows what hosts have, and restarts the interrupted transfers."""
    old = make_world(_reserved("1", 900, duration=100), _reserved("2", 2000, 2), transfers=_UNICAST).until(1930)
    assert old["2"].state is LeaseState.PREPARING
    changes = old.run.engine.take_cache_changes()
    cached = [each for each in changes.values() if each is not None]
    assert [(each.host, each.image_id, each.used) for each in cached] == [(0, "x", 1000)]
    new = make_world(transfers=_UNICAST)
    new.run.clock.set(1950)
    brought = _brought(new)

    new.run.engine.restore([old["2"]], [], 3, cached=cached)
    new.run.engine.step()

    assert [each.hosts for each in brought] == [frozenset({1})]
    lease = new.run.engine.lease("2")
    assert lease is not None
    assert lease.state is LeaseState.PREPARING
    assert new.until(2000)["2"].state is LeaseState.ACTIVE


def test_an_engine_that_takes_over_shows_who_does_not_wait_any_more(make_world: MakeWorld) -> None:
    """Everything has arrived meanwhile."""
    old = make_world(_reserved("1", 900), transfers=_AHEAD).until(850)
    assert old["1"].state is LeaseState.PREPARING
    new = make_world(transfers=_AHEAD)
    new.run.clock.set(860)

    new.run.engine.restore([old["1"]], [], 2, cached=[CachedImage(0, "x", 855)])
    new.run.engine.step()

    assert new["1"].state is LeaseState.READY
    assert new.until(900)["1"].state is LeaseState.ACTIVE
    assert "image_transfers" not in new.counters


def test_what_an_offer_needs_is_not_brought_before_it_is_accepted(make_world: MakeWorld) -> None:
    world = make_world(transfers=_AHEAD)
    engine = world.run.engine
    engine.submit(_reserved("1", 900), offered_for=800)
    engine.step()
    assert engine.next_due() == 800

    engine.held.accept("1")

    assert world.until(818)["1"].state is LeaseState.PREPARING


def test_what_is_unshelved_begins_from_what_was_saved(make_world: MakeWorld) -> None:
    """Its image is not needed on the new host, because Nova boots it from the snapshot."""
    leases = (
        request("1", LeaseKind.BEST_EFFORT, 1, duration=3000, software=_X),
        _reserved("2", 1000, 1, submitted=10, duration=500, software=_Y),
        request("3", LeaseKind.IMMEDIATE, 1, submitted=900, duration=10_000),
    )
    world = make_world(*leases, hosts=2, transfers=replace(_AHEAD, host_cache_age=100_000)).end()
    changes = world.run.engine.take_cache_changes()

    assert world["1"].accumulated == 3000
    assert {host for (host, image_id), kept in changes.items() if image_id == "x" and kept is not None} == {0}


def test_a_lease_without_vms_needs_no_image(make_world: MakeWorld) -> None:
    world = make_world(replace(_reserved("1", 900), nodes=()), transfers=_AHEAD).end()

    assert world["1"].state is LeaseState.DONE
    assert "image_transfers" not in world.counters


def test_a_cloud_that_brings_no_images_is_refused(make_world: MakeWorld) -> None:
    run = make_world(_reserved("1", 900), transfers=_AHEAD).run
    cloud = InMemoryCloud(CloudBehaviour(), {})

    with pytest.raises(InvalidValueError, match="transfers"):
        Engine(run.planner, run.policies, Ports(run.clock, cloud, run.store, run.recorder), EngineOptions())
