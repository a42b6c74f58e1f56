"""Shares and orders of members (contention F31 to F33, F37, F40)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.members import Arrivals, PublishedLoad, together
from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Ranking, Shares
from lease_scheduler.federation.routing.allocation.biggest_cluster_first import BiggestClusterFirst
from lease_scheduler.federation.routing.allocation.by_bids import Cheapest, Earliest, LeastPreemption
from lease_scheduler.federation.routing.allocation.home_first import HomeFirst
from lease_scheduler.federation.routing.allocation.least_rate_first import LeastRateFirst
from lease_scheduler.federation.routing.allocation.preemption_aware import PreemptionAware, as_cluster
from lease_scheduler.federation.routing.allocation.round_robin import RoundRobin
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.queueing_model import Cluster
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.request_types import RequestType
from lease_scheduler.model.resources import MEMORY_MB, VCPU
from lease_scheduler.policy.base import PolicyOptions

from .members import NODE, arrivals, member, of_type, question

_THREE = {"a": member(64), "b": member(128), "c": member(256)}


def _shares(policy: type[AllocationPolicy], asked: Question) -> dict[str, float]:
    found = policy(PolicyOptions()).allocate(asked, RoutingState())
    assert isinstance(found, Shares)
    return dict(found.by_member)


def _order(policy: type[AllocationPolicy], asked: Question, last: str | None = None) -> str:
    found = policy(PolicyOptions()).allocate(asked, RoutingState(last))
    assert isinstance(found, Ranking)
    return " ".join(found.names)


def _wanted(policy: type[AllocationPolicy], asked: Question, before: str = "", **options: str) -> str:
    return " ".join(policy(PolicyOptions(options)).wanted_bids(asked, before.split()))


def _load(local: Arrivals, external: Arrivals) -> PublishedLoad:
    return PublishedLoad(local, {RequestType.SUSPENDABLE: external})


def _bid(name: str, start: int | None, price: float | None = None, preempts: int = 0, survival: float = 1.0) -> Bid:
    end = None if start is None else start + 100
    return Bid(name, "1", start, end, price=price, preempts=preempts, survival=survival)


# -- without bids ----------------------------------------------------------------------------------------


def test_round_robin_begins_after_the_member_that_was_chosen_last() -> None:
    assert [_order(RoundRobin, question(_THREE), last) for last in (None, "a", "c")] == ["a b c", "b c a", "a b c"]


def test_round_robin_begins_anew_when_the_last_member_has_left() -> None:
    assert _order(RoundRobin, question(_THREE), "left") == "a b c"


def test_home_first_tries_the_own_site_and_then_the_configured_order() -> None:
    assert [_order(HomeFirst, question(_THREE, home=home)) for home in (None, "a", "c")] == ["a b c", "a b c", "c a b"]


@pytest.mark.parametrize(
    ("starts", "order"),
    [
        ({"b": 60}, "b a c"),
        ({"b": 61, "a": 0}, "a b c"),
        ({"b": 61, "a": 61, "c": 60}, "c b a"),
        ({"b": 90, "a": 90, "c": 90}, "b a c"),
        ({"b": None, "a": 90}, "a b c"),
        ({"b": None, "a": None}, "b a c"),
        ({"c": 90}, "c b a"),
        ({}, "b a c"),
    ],
)
def test_best_effort_overflows_from_home_to_the_earliest_start(starts: dict[str, int | None], order: str) -> None:
    """Home, which is b, is late after 60 s; a member without a bid has refused or does not answer."""
    bids = {name: _bid(name, start) for name, start in starts.items()}
    policy = HomeFirst(PolicyOptions({"overflow_wait": "60"}))
    found = policy.allocate(question(_THREE, bids=bids, home="b"), RoutingState())
    assert isinstance(found, Ranking)
    assert " ".join(found.names) == order


def test_the_other_members_are_asked_only_if_home_would_have_best_effort_wait() -> None:
    early, late = {"a": _bid("a", 60)}, {"a": _bid("a", 61)}
    assert _wanted(HomeFirst, question(_THREE)) == "a"
    assert _wanted(HomeFirst, question(_THREE, bids=early), "a", overflow_wait="60") == ""
    assert _wanted(HomeFirst, question(_THREE, bids=late), "a", overflow_wait="60") == "b c"
    assert _wanted(HomeFirst, question(_THREE), "a") == "b c"
    assert _wanted(HomeFirst, question(_THREE, bids=late), "a b c", overflow_wait="60") == ""
    # Home has refused it already, or nobody else is left.
    assert _wanted(HomeFirst, question(_THREE, "b", "c")) == ""
    assert _wanted(HomeFirst, question(_THREE, "a")) == ""


def test_what_must_start_in_time_does_not_overflow() -> None:
    reservation = LeaseRequest("1", LeaseKind.RESERVATION, (NodeSet(1, NODE),), 0, 100, 50_000)
    assert _wanted(HomeFirst, question(_THREE, terms=reservation)) == ""
    bids = {"a": _bid("a", 50_000), "b": _bid("b", 50)}
    assert _order(HomeFirst, question(_THREE, terms=reservation, bids=bids)) == "a b c"


def test_biggest_cluster_first_shares_by_capacity_times_speed() -> None:
    """The clusters of contention 5.2: 64, 128 and 256 processing elements of 2,000, 3,000 and 2,100 MIPS."""
    members = {"a": member(64, 2.0), "b": member(128, 3.0), "c": member(256, 2.1)}
    whole = 64 * 2.0 + 128 * 3.0 + 256 * 2.1

    assert _shares(BiggestClusterFirst, question(members)) == pytest.approx(
        {"a": 128 / whole, "b": 384 / whole, "c": 537.6 / whole}
    )


def test_the_size_of_a_member_is_that_of_the_class_that_the_request_fills_first() -> None:
    """Three nodes need 6 VCPU and 3,072 MB; of the second member, the memory is full first."""
    asked = question({"a": member(128), "b": member(2_000)}, terms=of_type(nodes=3))

    assert asked.sizes == pytest.approx({"a": 128 / 6, "b": 1_000_000 / 3_072})
    assert asked.fastest == "b"


def test_least_rate_first_gives_more_to_members_with_fewer_local_requests() -> None:
    members = {name: member(64, local=arrivals(rate, 1, 1)) for name, rate in (("a", 0.1), ("b", 0.3), ("c", 0.6))}

    assert _shares(LeastRateFirst, question(members)) == pytest.approx({"a": 0.45, "b": 0.35, "c": 0.2})


@pytest.mark.parametrize("rates", [[], [0.0, 0.0], [0.4]])
def test_least_rate_first_shares_equally_without_a_difference(rates: list[float]) -> None:
    members = {f"m{number}": member(8, local=arrivals(rate, 1, 1)) for number, rate in enumerate(rates)} or {
        "m0": member(8),
        "m1": member(99),
    }

    assert _shares(LeastRateFirst, question(members)) == pytest.approx(dict.fromkeys(members, 1 / len(members)))


# -- preemption-aware ------------------------------------------------------------------------------------


def test_the_shares_of_preemption_aware_allocation_are_those_of_the_best_division() -> None:
    """Members of 1, 2 and 4 VCPU whose published work makes them the clusters of the golden table."""
    clusters = [Cluster(20, 500, 0.01, 25, 631.25), Cluster(8, 80, 0.02, 12, 145.44), Cluster(6, 45, 0.04, 10, 101)]
    members = {
        f"{size}": member(
            size,
            local=arrivals(each.local_rate, each.local_mean * size, each.local_square * size**2),
            external=arrivals(0.1 / 3, each.mean * size, each.square * size**2),
        )
        for size, each in zip((1, 2, 4), clusters, strict=True)
    }

    assert _shares(PreemptionAware, question(members)) == pytest.approx(
        {"1": 0.06457977, "2": 0.48859646, "4": 0.44682377}, abs=1e-7
    )


def test_speed_makes_service_times_shorter() -> None:
    found = as_cluster(member(10, 2.0), _load(arrivals(0.1, 40, 3_200), arrivals(0.1, 100, 20_000)), Arrivals())

    assert found == Cluster(5, 50, 0.1, 2, 8)


def test_a_member_is_measured_by_its_most_contended_class() -> None:
    both = Arrivals(0.1, {VCPU: 100, MEMORY_MB: 10_000_000}, {VCPU: 2e4, MEMORY_MB: 1e14})
    found = as_cluster(member(64), _load(Arrivals(), both), Arrivals())

    assert found == Cluster(10, 100, 0, 0, 0)


def test_what_external_requests_need_at_a_new_member_is_what_they_need_at_all() -> None:
    busy = arrivals(0.02, 400, 200_000)
    members = {"busy": member(10, external=busy), "new": member(10)}

    assert _shares(PreemptionAware, question(members)) == pytest.approx({"busy": 0.5, "new": 0.5})


def test_a_member_without_a_class_that_external_requests_need_gets_none() -> None:
    gpus = Arrivals(0.02, {"CUSTOM_GPU": 10}, {"CUSTOM_GPU": 200})
    assert as_cluster(member(64), PublishedLoad(), gpus) is None


def test_without_any_external_request_members_share_by_size() -> None:
    members = {"a": member(10, local=arrivals(0.01, 10, 200)), "b": member(30)}

    assert _shares(PreemptionAware, question(members)) == pytest.approx({"a": 0.25, "b": 0.75})


def test_when_local_requests_fill_all_members_they_share_by_size() -> None:
    full, some = arrivals(1, 100, 10_000), arrivals(0.1, 10, 200)
    members = {"a": member(10, local=full, external=some), "b": member(30, local=full, external=some)}

    assert _shares(PreemptionAware, question(members)) == pytest.approx({"a": 0.25, "b": 0.75})


_ARRIVALS = st.builds(
    lambda rate, mean, variation: arrivals(rate, mean, mean**2 * (1 + variation)),
    st.floats(0, 1),
    st.floats(0, 1_000),
    st.floats(0, 4),
)


@given(st.lists(st.tuples(st.integers(1, 500), _ARRIVALS, _ARRIVALS), min_size=1, max_size=8))
def test_whatever_members_publish_there_are_shares(published: list[tuple[int, Arrivals, Arrivals]]) -> None:
    members = {
        f"m{number}": member(vcpus, local=local, external=external)
        for number, (vcpus, local, external) in enumerate(published)
    }
    found = _shares(PreemptionAware, question(members))

    assert found.keys() <= members.keys()
    assert sum(found.values()) == pytest.approx(1)


def test_sorts_of_requests_count_by_their_rates() -> None:
    found = together([arrivals(0.01, 40, 1_600), arrivals(0.03, 80, 6_400)])

    assert (found.rate, found.work[VCPU], found.squares[VCPU]) == pytest.approx((0.04, 70, 5_200))
    assert together([]) == Arrivals()


# -- by bids ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "order"), [(Earliest, "b a d c e"), (Cheapest, "d a b c e"), (LeastPreemption, "b a d c e")]
)
def test_bids_are_put_in_order_and_members_without_one_come_last(policy: type[AllocationPolicy], order: str) -> None:
    bids = {
        "a": _bid("a", 200, 5.0, survival=0.9),
        "b": _bid("b", 100, 7.0, survival=0.95),
        "c": _bid("c", None, 9.0, preempts=2),
        "d": _bid("d", 300, None, preempts=1),
    }
    members = {name: member(8) for name in "eabcd"}

    assert _wanted(policy, question(members)) == "e a b c d"
    assert _wanted(policy, question(members), "e a b c d") == ""
    assert _order(policy, question(members, bids=bids)) == order


def test_ties_keep_the_configured_order() -> None:
    bids = {name: _bid(name, 100, 5.0) for name in "abc"}

    for policy in (Earliest, Cheapest, LeastPreemption):
        assert _order(policy, question({name: member(8) for name in "cab"}, bids=bids)) == "c a b"


# -- shares ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "message"),
    [({"a": 0.5}, "shares: must add up to 1, not 0.5"), ({"a": -1.0, "b": 2.0}, r"shares\[a\]: must be a number")],
)
def test_shares_that_are_no_division_are_refused(shares: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Shares(shares)
