"""Leases and their images in the planner (haizea F60-F66; Sotomayor 2010, sections 6.1-6.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.transfers.images import ImagePlan
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions

_X = DiskImage("x", 1024)
_Y = DiskImage("y", 1024)
_POOLS = TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES)
_NO_POOLS = TransferOptions(bandwidth=100)

MakePlanner = Callable[..., Planner]
MakeLease = Callable[..., Lease]


def _images(planner: Planner) -> ImagePlan:
    assert planner.plan.images is not None
    return planner.plan.images


def _times(planner: Planner) -> list[tuple[int, int]]:
    return [(transfer.start, transfer.end) for transfer in _images(planner).transfers]


def _bring_all(planner: Planner) -> None:
    images = _images(planner)
    while images.transfers:
        first = images.transfers[0]
        images = images.at(first.start).begun(first.number, first.start).at(first.end).ended(first.number)
    planner.plan.images = images


def _queue(planner: Planner, *leases: Lease, now: int = 0) -> list[Lease]:
    for lease in leases:
        planner.enqueue(planner.plan.put(lease))
    planner.plan.pass_to(now)
    planner.process_queue(now)
    return [planner.plan.leases[lease.lease_id] for lease in leases]


def test_a_reservation_has_its_image_at_its_start(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(transfers=_NO_POOLS)

    placed = planner.place(make_lease(LeaseKind.RESERVATION, 2, start=900, software=_X), 0)

    assert placed.state is LeaseState.SCHEDULED, "it waits for its image"
    assert _times(planner) == [(818, 900)]
    assert planner.plan.leases[placed.lease_id] == placed


def test_without_an_image_nothing_is_transferred(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(transfers=_NO_POOLS)

    placed = planner.place(make_lease(LeaseKind.RESERVATION, 2, start=1), 0)

    assert placed.state is LeaseState.READY
    assert _times(planner) == []


def test_a_reservation_at_too_short_notice_is_refused(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """If a transfer cannot be over in time, the request is refused and the plan stays as it was."""
    planner = make_planner(transfers=_NO_POOLS)
    before = planner.plan.images

    with pytest.raises(NotPlannableError):
        planner.place(make_lease(LeaseKind.RESERVATION, 2, start=81, software=_X), 0)
    assert planner.plan.images is before

    assert planner.place(make_lease(LeaseKind.RESERVATION, 2, start=82, software=_X), 0).holdings


def test_at_short_notice_only_hosts_with_the_image_are_used(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F64: the lease goes where its image is, though the policy would take other hosts first."""
    planner = make_planner(transfers=_POOLS)
    first = planner.place(make_lease(LeaseKind.RESERVATION, 1, 100, start=900, software=_X, node_sets=None), 0)
    host = first.holdings[0].assignment
    _bring_all(planner)

    placed = planner.place(make_lease(LeaseKind.RESERVATION, 1, start=1000, software=_X), 950)

    assert placed.holdings[0].assignment == host
    assert placed.state is LeaseState.READY
    with pytest.raises(NotPlannableError):
        planner.place(make_lease(LeaseKind.RESERVATION, 2, start=5000, software=_X), 4950)


def test_hosts_with_the_image_come_first(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F64: for reservations too, though there would be time for a transfer."""
    planner = make_planner(transfers=_POOLS)
    hosts = []
    for image in (_X, _Y):
        lease = planner.place(make_lease(LeaseKind.RESERVATION, 2, 100, start=900, software=image), 0)
        hosts.append(set(lease.holdings[0].assignment))
    _bring_all(planner)

    placed = planner.place(make_lease(LeaseKind.RESERVATION, 2, start=5000, software=_Y), 1000)

    assert set(placed.holdings[0].assignment) == hosts[1]
    assert _times(planner) == []


def test_a_best_effort_lease_waits_for_its_image_and_holds_no_future_place(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F47: a lease whose hosts are free does not count as waiting for hosts."""
    planner = make_planner(transfers=_NO_POOLS)

    (lease,) = _queue(planner, make_lease(LeaseKind.BEST_EFFORT, 2, software=_X))

    assert lease.holdings[0].start == 82
    assert _times(planner) == [(0, 82)]
    assert planner.plan.future_best_effort(0) == []
    assert planner.can_wait_with_place(0)


def test_a_lease_that_waits_for_hosts_gets_its_image_at_once(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(transfers=_NO_POOLS)
    planner.place(make_lease(LeaseKind.IMMEDIATE, 4, 1000), 0)

    (lease,) = _queue(planner, make_lease(LeaseKind.BEST_EFFORT, 2, software=_X))

    assert lease.holdings[0].start == 1000
    assert _times(planner) == [(0, 82)]
    assert planner.plan.future_best_effort(0) == [lease]


def test_transfers_of_best_effort_leases_queue_up(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """One after the other on the channel, around a reservation's transfer that has a due date."""
    planner = make_planner(transfers=_NO_POOLS)
    planner.place(make_lease(LeaseKind.RESERVATION, 1, 100, start=250, software=_Y), 0)

    leases = _queue(planner, *(make_lease(LeaseKind.BEST_EFFORT, 1, 100, software=DiskImage(n, 1024)) for n in "abc"))

    assert _times(planner) == [(0, 82), (82, 164), (168, 250), (250, 332)]
    assert [lease.holdings[0].start for lease in leases] == [82, 164, 332]


def test_a_best_effort_lease_starts_at_once_where_its_image_is(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F63: a lease of one host; one of two hosts has to wait for the transfer to the other."""
    planner = make_planner(transfers=_POOLS)
    first = planner.place(make_lease(LeaseKind.RESERVATION, 1, 100, start=900, software=_X), 0)
    _bring_all(planner)
    planner.plan.put(replace(first, state=LeaseState.DONE, holdings=()))
    planner.plan.remove(first.lease_id)

    one, two = _queue(
        planner,
        make_lease(LeaseKind.BEST_EFFORT, 1, software=_X),
        make_lease(LeaseKind.BEST_EFFORT, 2, software=_X),
        now=2000,
    )

    assert one.holdings[0].start == 2000
    assert one.holdings[0].assignment == first.holdings[0].assignment
    assert one.state is LeaseState.READY
    assert two.holdings[0].start == 2082
    assert two.state is LeaseState.SCHEDULED


def test_a_best_effort_lease_joins_a_planned_multicast(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F66: it starts when that is over, though the channel would be free only later."""
    planner = make_planner(transfers=_NO_POOLS)
    planner.place(make_lease(LeaseKind.RESERVATION, 2, start=120, software=_X), 0)

    (lease,) = _queue(planner, make_lease(LeaseKind.BEST_EFFORT, 2, 100, software=_X))

    assert lease.holdings[0].start == 120
    assert _times(planner) == [(38, 120)]
    assert _images(planner).transfers[0].hosts == {0, 1, 2, 3}


def test_an_immediate_lease_waits_for_a_transfer_only_if_that_begins_now(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Sotomayor 2010, section 6.1."""
    planner = make_planner(transfers=_NO_POOLS)

    placed = planner.place(make_lease(LeaseKind.IMMEDIATE, 1, software=_X), 0)

    assert placed.holdings[0].start == 82
    with pytest.raises(NotPlannableError):
        planner.place(make_lease(LeaseKind.IMMEDIATE, 1, software=_Y), 0)


def test_a_deadline_lease_starts_when_its_image_can_be_there(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F60, F62: deadline leases are planned with their transfers; the programs of 2010 did not do that."""
    planner = make_planner(transfers=_NO_POOLS)
    planner.place(make_lease(LeaseKind.RESERVATION, 1, 100, start=82, software=_Y), 0)

    lease = planner.place(make_lease(LeaseKind.DEADLINE, 1, 100, start=10, deadline=264, software=_X), 0)

    assert lease.holdings[0].start == 164
    with pytest.raises(NotPlannableError):
        planner.place(make_lease(LeaseKind.DEADLINE, 1, 100, start=10, deadline=264, software=DiskImage("w", 1024)), 0)


def test_a_lease_that_is_planned_again_gives_up_its_transfer(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F49: after an early end a lease moves forward, and no image is transferred twice."""
    planner = make_planner(transfers=_NO_POOLS)
    blocking = planner.place(make_lease(LeaseKind.IMMEDIATE, 4, 1000), 0)
    (lease,) = _queue(planner, make_lease(LeaseKind.BEST_EFFORT, 2, software=_X))
    planner.plan.put(replace(blocking, state=LeaseState.DONE, holdings=()))
    planner.plan.remove(blocking.lease_id)

    planner.use_freed_capacity(4, 0, 1000)

    assert planner.plan.leases[lease.lease_id].holdings[0].start == 82
    assert _times(planner) == [(0, 82)]


@pytest.mark.parametrize(("keep", "start"), [(True, 200), (False, 282)])
def test_an_image_brought_early_is_kept_for_a_lease_that_is_planned_again(
    make_planner: MakePlanner, make_lease: MakeLease, keep: bool, start: int
) -> None:
    """haizea 8.4: files of a replanned lease are kept; the programs of 2010 deleted them."""
    planner = make_planner(transfers=replace(_NO_POOLS, keep_replanned=keep))
    blocking = planner.place(make_lease(LeaseKind.IMMEDIATE, 4, 1000), 0)
    (lease,) = _queue(planner, make_lease(LeaseKind.BEST_EFFORT, 2, software=_X))
    _bring_all(planner)
    planner.plan.put(lease.to(LeaseState.READY))
    planner.plan.put(replace(blocking, state=LeaseState.DONE, holdings=()))
    planner.plan.remove(blocking.lease_id)
    planner.plan.pass_to(200)

    planner.use_freed_capacity(4, 200, 1000)

    assert planner.plan.leases[lease.lease_id].holdings[0].start == start
    assert _times(planner) == ([] if keep else [(200, 282)])


def test_a_preempted_lease_gives_up_its_transfer(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(transfers=_NO_POOLS)
    planner.place(make_lease(LeaseKind.IMMEDIATE, 4, 1000), 0)
    (lease,) = _queue(planner, make_lease(LeaseKind.BEST_EFFORT, 4, software=_X))
    assert _times(planner) == [(0, 82)]

    planner.place(make_lease(LeaseKind.RESERVATION, 4, start=1000, software=_Y), 0)

    assert planner.plan.leases[lease.lease_id].state is LeaseState.QUEUED
    assert _times(planner) == [(918, 1000)]


def test_a_trial_leaves_no_transfer(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(transfers=_NO_POOLS)
    before = planner.plan.images

    with planner.plan.trial():
        planner.place(make_lease(LeaseKind.RESERVATION, 2, start=900, software=_X), 0)

    assert planner.plan.images is before


def test_unicast_takes_time_for_each_host(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F61."""
    planner = make_planner(transfers=TransferOptions(bandwidth=100, mechanism=Mechanism.UNICAST))

    planner.place(make_lease(LeaseKind.RESERVATION, 3, start=900, software=_X), 0)

    assert _times(planner) == [(900 - 3 * 82, 900)]
