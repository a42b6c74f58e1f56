"""Which images are where, and which are being transferred (haizea F60-F66)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.plan.transfers.images import ImagePlan, NotInTimeError
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions

#: 82 s at 100 Mb/s.
_X = DiskImage("x", 1024)
_Y = DiskImage("y", 1024)

_POOLS = TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES)
_NO_POOLS = TransferOptions(bandwidth=100)


def _reserved(
    images: ImagePlan, lease_id: str, image: DiskImage, hosts: list[int], start: int, until: int = 5000
) -> ImagePlan:
    needs = dict.fromkeys(hosts, start)
    return images.provided(lease_id, image, needs, until, is_flexible=True, may_be_late=False)


def _queued(
    images: ImagePlan, lease_id: str, image: DiskImage, hosts: list[int], start: int, until: int = 5000
) -> ImagePlan:
    needs = dict.fromkeys(hosts, start)
    return images.provided(lease_id, image, needs, until, is_flexible=False, may_be_late=False)


def _times(images: ImagePlan) -> list[tuple[int, int, int]]:
    return [(transfer.number, transfer.start, transfer.end) for transfer in images.transfers]


def _all_ended(images: ImagePlan) -> ImagePlan:
    while images.transfers:
        first = images.transfers[0]
        images = images.at(first.start).begun(first.number, first.start).at(first.end).ended(first.number)
    return images


def test_seconds_are_size_over_bandwidth_rounded_up() -> None:
    """haizea F61, F67, section 5.3: 33 s and 328 s for 4 GB."""
    four = DiskImage("z", 4096)
    assert TransferOptions(bandwidth=1000).seconds(four, 7) == 33
    assert TransferOptions(bandwidth=100).seconds(four, 7) == 328
    assert TransferOptions(bandwidth=100, mechanism=Mechanism.UNICAST).seconds(four, 7) == 7 * 328
    assert TransferOptions(bandwidth=100, force_seconds=5).seconds(four, 7) == 5


def test_the_image_of_a_reservation_arrives_just_in_time() -> None:
    images = _reserved(ImagePlan(_NO_POOLS), "1", _X, [0, 2], 900)

    assert _times(images) == [(1, 818, 900)]
    assert images.transfers[0].hosts == {0, 2}
    assert images.outstanding("1", [2])
    assert images.arrival("1") == 900


def test_an_earlier_transfer_is_moved_forward_for_a_later_one() -> None:
    images = _reserved(_reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 900), "2", _Y, [1], 950)

    assert _times(images) == [(1, 786, 868), (2, 868, 950)]


def test_a_best_effort_transfer_takes_the_first_gap_and_is_not_moved() -> None:
    images = _reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 150)
    assert images.soonest_end(_Y, 1) == 232, "68 s before the promise are too few"
    images = _queued(images, "2", _Y, [1], 1000)
    assert _times(images) == [(1, 68, 150), (2, 150, 232)]

    images = _reserved(images, "3", DiskImage("w", 100), [2], 240)

    assert _times(images) == [(1, 68, 150), (2, 150, 232), (3, 232, 240)]


def test_a_transfer_that_cannot_be_in_time_is_refused_without_a_change() -> None:
    images = _reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 90)

    with pytest.raises(NotInTimeError):
        _reserved(images, "2", _Y, [1], 160)
    late = images.provided("2", _Y, {1: 160}, 5000, is_flexible=True, may_be_late=True)
    assert _times(late) == [(1, 8, 90), (2, 90, 172)]


def test_an_image_is_reused_after_the_lease_that_brought_it() -> None:
    """haizea F63: the pool keeps it, and it cannot be evicted once a lease relies on it."""
    images = _all_ended(_reserved(ImagePlan(_POOLS), "1", _X, [0], 900)).forgotten("1")
    assert images.hosts_with(_X, "2") == {0}
    assert images.pools[0][0].users == frozenset()

    images = _reserved(images, "2", _X, [0, 1], 2000)

    assert images.pools[0][0].users == {"2"}
    assert [transfer.hosts for transfer in images.transfers] == [{1}]
    assert images.reused == {"2": 1}


def test_without_pools_an_image_belongs_to_its_lease_alone() -> None:
    images = _all_ended(_reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 900))

    assert images.hosts_with(_X, "1") == {0}
    assert images.hosts_with(_X, "2") == frozenset()
    assert images.forgotten("1").copies == {}


def test_a_full_pool_leaves_the_image_to_its_lease() -> None:
    """haizea 4.15: if nothing can be evicted, there is a copy for the lease only."""
    small = TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES, cache_size_mb=1500)
    images = _all_ended(_reserved(ImagePlan(small), "1", _X, [0], 900))

    images = _all_ended(_reserved(images, "2", _Y, [0], 1200))

    assert images.hosts_with(_Y, "2") == {0}
    assert images.hosts_with(_Y, "3") == frozenset()
    assert images.evicted == 0
    later = _all_ended(_reserved(images.forgotten("1"), "4", _Y, [0], 2000))
    assert (later.hosts_with(_Y, "3"), later.hosts_with(_X, "3"), later.evicted) == (frozenset({0}), frozenset(), 1)


def test_a_multicast_that_is_planned_is_joined() -> None:
    """haizea F66."""
    images = _reserved(ImagePlan(_NO_POOLS), "1", _X, [0, 1], 900)

    joined = _queued(images, "2", _X, [2, 3], 1000)

    assert _times(joined) == [(1, 818, 900)]
    assert joined.transfers[0].hosts == {0, 1, 2, 3}
    assert joined.shared == {"2": 2}
    assert _times(_queued(images, "2", _X, [2, 3], 899)) == [(2, 0, 82), (1, 818, 900)], "it would come too late"


def test_only_a_multicast_that_has_not_begun_can_be_joined_if_allowed() -> None:
    def transfers(images: ImagePlan) -> int:
        return len(_queued(images, "2", _X, [2], 5000).transfers)

    unicast = TransferOptions(bandwidth=100, mechanism=Mechanism.UNICAST)
    off = TransferOptions(bandwidth=100, avoid_redundant=False)
    assert transfers(_reserved(ImagePlan(unicast), "1", _X, [0], 900)) == 2
    assert transfers(_reserved(ImagePlan(off), "1", _X, [0], 900)) == 2
    assert transfers(_reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 900).at(818).begun(1, 818)) == 2
    assert transfers(_reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 900)) == 1


def test_a_reservation_shares_a_transfer_to_its_host() -> None:
    """haizea F65: no second transfer of the same image to the same host."""
    images = _reserved(ImagePlan(_NO_POOLS), "1", _X, [0, 1], 900)

    shared = _reserved(images, "2", _X, [1], 1200)
    own = _reserved(images, "2", _X, [1], 899)

    assert [transfer.hosts for transfer in shared.transfers] == [{0, 1}]
    assert len(own.transfers) == 2


def test_a_transfer_that_a_lease_joined_does_not_become_later() -> None:
    """A transfer that was moved forward moves back when the channel is free, but not beyond the due dates of others."""
    images = _reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 900)
    images = _reserved(images, "2", _Y, [1], 950)
    assert _times(images) == [(1, 786, 868), (2, 868, 950)]
    joined = _queued(images, "3", _X, [5], 868).forgotten("2")

    later = _reserved(joined, "4", DiskImage("v", 1), [4], 2000)

    assert later.transfer(1) == joined.transfer(1)
    assert _reserved(images.forgotten("2"), "4", DiskImage("v", 1), [4], 2000).arrival("1") == 900


def test_a_transfer_without_users_is_dropped() -> None:
    images = _queued(_reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 900), "2", _X, [1], 900)

    assert images.forgotten("1").transfers[0].hosts == {1}
    assert images.forgotten("1").forgotten("2").transfers == ()
    goes_on = images.at(818).begun(1, 818).forgotten("1").forgotten("2")
    assert len(goes_on.transfers) == 1, "nobody stops what goes on"
    assert goes_on.at(900).ended(1).transfers == ()


def test_a_failed_transfer_leaves_no_claims() -> None:
    images = _reserved(ImagePlan(_NO_POOLS), "1", _X, [0], 900).at(818).begun(1, 818).failed(1)

    assert images.transfers == ()
    assert images.claims == {}


def test_a_failed_host_has_no_images() -> None:
    images = _all_ended(_reserved(ImagePlan(_POOLS), "1", _X, [0, 1], 900))

    assert images.host_lost(0).hosts_with(_X, "1") == {1}
    assert images.host_lost(0).claims == {"1": {1}}
    assert images.hosts_with(_X, "1") == {0, 1}, "the value itself never changes"


def test_a_late_transfer_still_occupies_the_channel() -> None:
    images = _queued(ImagePlan(_NO_POOLS), "1", _X, [0], 900).begun(1, 0).at(200)

    assert images.next_start() is None
    assert images.soonest_end(_Y, 1) == 201 + 82


def test_a_lease_keeps_the_copies_on_its_hosts_only() -> None:
    images = ImagePlan(_NO_POOLS).copied("1", [0, 1, 2]).copied("2", [0])

    kept = images.without_other_copies("1", [1, 3])

    assert kept.copies == {"1": {1}, "2": {0}}
    assert kept.without_other_copies("1", [1, 3]) is kept
    assert kept.without_other_copies("3", [1]) is kept
