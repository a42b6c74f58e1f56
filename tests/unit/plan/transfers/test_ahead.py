"""Which images are cached ahead, and when (haizea F60-F62, F65, 4.14)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import Boot, DiskImage, NodeSet
from lease_scheduler.model.resources import HOST_SHARE, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.transfers.ahead import ImageNeed, ImageUse, lacking, planned, uses_of
from lease_scheduler.plan.transfers.channel import Job, as_late_as_possible
from lease_scheduler.plan.transfers.options import Mechanism, TransferOptions

_X, _Y = DiskImage("x", 1000), DiskImage("y", 2000)
#: 80 s for 1000 MB to a host.
_UNICAST = TransferOptions(bandwidth=100, mechanism=Mechanism.UNICAST, required=False)
_ONE = Resources({"VCPU": 1, HOST_SHARE: 1})


def _use(
    boot: int, *hosts: int, until: int = 0, lease_id: str = "1", ahead: bool = True, runs: bool = False
) -> ImageUse:
    return ImageUse(lease_id, _X, frozenset(hosts), boot, until or boot + 100, ahead, runs)


def _lease(
    *boots: Boot, count: int = 3, state: LeaseState = LeaseState.READY, active_since: int | None = None
) -> Lease:
    request = LeaseRequest(
        "1", LeaseKind.RESERVATION, (NodeSet(1, _ONE), NodeSet(count, _ONE, boots=boots)), 0, 100, start=1000
    )
    hosts = tuple(range(count + 1))
    return Lease(
        request,
        0,
        state,
        holdings=(Holding(hosts, 1000, 1000, 1100, 1100, Closing.SHUTDOWN),),
        active_since=active_since,
    )


def test_images_of_templates_are_needed_where_their_servers_boot() -> None:
    """In the order of the nodes, as servers are made from templates; a volume uses a node and needs no image."""
    lease = _lease(Boot(_X, 1), Boot(None, 1), Boot(_Y))

    uses = uses_of(lease, preparation_time=60)

    assert {(use.image, use.hosts, use.boot, use.until) for use in uses} == {
        (_X, frozenset({1}), 940, 1100),
        (_Y, frozenset({3}), 940, 1100),
    }
    assert all(use.is_ahead for use in uses)


def test_servers_on_one_node_need_all_their_images_there() -> None:
    together = NodeSet(1, Resources({"VCPU": 4, HOST_SHARE: 4}), boots=(Boot(_X, 3), Boot(_Y, 1)))

    assert list(together.images()) == [frozenset({_X, _Y})]


def test_a_running_lease_uses_its_images_and_a_suspended_one_does_not() -> None:
    (running,) = uses_of(_lease(Boot(_X), state=LeaseState.ACTIVE, active_since=1000), 60)
    assert (running.boot, running.is_ahead, running.is_running) == (1000, False, True)
    assert uses_of(_lease(Boot(_X), state=LeaseState.SUSPENDED_SCHEDULED), 60) == ()
    assert uses_of(_lease(), 60) == ()


@pytest.mark.parametrize(("kept_until", "lacks"), [(500, []), (499, [500]), (None, [500])])
def test_a_host_that_keeps_the_image_until_the_boot_lacks_nothing(kept_until: int | None, lacks: list[int]) -> None:
    assert [need.due for need in lacking(0, [_use(500, 0)], kept_until, age=1000)] == lacks


def test_an_earlier_use_keeps_the_image_on_the_host_for_a_while() -> None:
    uses = [_use(500, 0, until=600, lease_id="1"), _use(900, 0, lease_id="2"), _use(5000, 0, lease_id="3")]

    assert [(need.lease_id, need.until) for need in lacking(0, uses, None, age=400)] == [
        ("1", 600),
        ("3", uses[2].until),
    ]


def test_a_boot_without_notice_brings_the_image_itself() -> None:
    uses = [_use(500, 0, ahead=False), _use(900, 0, lease_id="2")]

    assert lacking(0, uses, None, age=1000) == []


def test_a_server_that_came_without_its_image_leaves_none() -> None:
    """The server was unshelved or moved there."""
    uses = [_use(500, 0, runs=True, ahead=False), _use(900, 0, lease_id="2")]

    assert [need.lease_id for need in lacking(0, uses, None, age=1000)] == ["2"]
    assert lacking(0, uses, 550, age=1000) == []


def test_transfers_of_an_image_that_would_overlap_are_merged() -> None:
    needs = {_X: [ImageNeed(0, 1000, "1", 0), ImageNeed(1, 1050, "2", 0), ImageNeed(2, 5000, "3", 0)]}

    first, second = planned(needs, _UNICAST, now=0)

    assert (first.start, first.end, first.hosts, first.due) == (840, 1000, frozenset({0, 1}), 1000)
    assert (second.start, second.hosts, [user.lease_id for user in second.users]) == (4920, frozenset({2}), ["3"])
    assert (first.number, second.number) == (0, 1)


def test_a_transfer_that_cannot_be_in_time_begins_at_once() -> None:
    needs = {_X: [ImageNeed(0, 40, "1", 0)], _Y: [ImageNeed(1, 200, "2", 0)]}

    late, last = planned(needs, _UNICAST, now=10)

    assert [(each.image, each.start, each.end) for each in (late, last)] == [(_X, 10, 90), (_Y, 90, 250)]


_NEEDS = st.dictionaries(
    st.builds(DiskImage, st.sampled_from("abcd"), st.sampled_from([100, 1000, 4000])),
    st.lists(
        st.builds(ImageNeed, st.integers(0, 5), st.integers(1, 3000), st.sampled_from("123"), st.just(0)), min_size=1
    ),
    max_size=4,
)


@given(_NEEDS, st.sampled_from(Mechanism), st.integers(0, 500))
def test_transfers_are_sequential_as_late_as_possible_and_in_time_if_they_can_be(
    needs: dict[DiskImage, list[ImageNeed]], mechanism: Mechanism, now: int
) -> None:
    """haizea F62: by earliest due date, pushed to the right."""
    options = TransferOptions(bandwidth=100, mechanism=mechanism, required=False)

    found = planned(needs, options, now)

    assert all(each.start >= now and each.seconds == options.seconds(each.image, len(each.hosts)) for each in found)
    assert all(first.end <= second.start for first, second in pairwise(found))
    asked = {(image, need.host, need.lease_id) for image in needs for need in needs[image] if need.due > now}
    served = {(each.image, host, user.lease_id) for each in found for user in each.users for host in user.hosts}
    assert served == asked
    in_time = as_late_as_possible([Job(each.seconds, each.due) for each in found], (), now)
    if in_time is not None:
        assert all(each.end <= each.due for each in found)
        for each, following in pairwise(found):
            assert each.end == min(each.due, following.start)
        assert all(each.end == each.due for each in found[-1:])
