"""The choice of a member by allocation and dispatch together."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.federation.routing.policies import ROUTING_FAMILIES, RoutingPolicies
from lease_scheduler.federation.routing.router import choose
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_of_family

from .members import arrivals, member, question

_ALLOCATIONS = ("home-first", "round-robin", "lrf", "bcf", "pap", "earliest", "cheapest", "least-preemption")
_DISPATCHES = ("random", "billiard", "by-type")
_MEMBERS = {
    name: member(vcpus, local=arrivals(rate, 100, 20_000), external=arrivals(0.01, 50, 5_000))
    for name, vcpus, rate in (("a", 64, 0.01), ("b", 128, 0.2), ("c", 256, 0.1))
}


def _policies(allocation: str, dispatch: str = "billiard") -> RoutingPolicies:
    return load_routing_policies({"allocation": allocation, "dispatch": dispatch}, PolicyOptions())


def test_without_any_option_the_first_member_gets_all_requests() -> None:
    """As a site without a router does with its pools."""
    assert choose(RoutingPolicies(), question(_MEMBERS), RoutingState(), 0.5).member == "a"
    defaults = load_routing_policies({}, PolicyOptions())
    assert (defaults.allocation.name, defaults.dispatch.name) == ("home-first", "billiard")


@pytest.mark.parametrize("family", ROUTING_FAMILIES)
def test_the_default_of_a_family_is_the_policy_that_its_name_loads(family: str) -> None:
    declared = ROUTING_FAMILIES[family]
    loaded = load_of_family(declared, declared.default, PolicyOptions(), family)

    assert type(loaded) is type(getattr(RoutingPolicies(), family))


@given(
    st.sampled_from(_ALLOCATIONS),
    st.sampled_from(_DISPATCHES),
    st.floats(0, 1, exclude_max=True),
    st.sets(st.sampled_from("abc")),
)
def test_every_member_is_chosen_once_if_all_refuse(
    allocation: str, dispatch: str, uniform: float, bidding: set[str]
) -> None:
    """contention 2.2, F33 to F37: with each of the installed policies."""
    policies, state = _policies(allocation, dispatch), RoutingState()
    bids = {name: Bid(name, "1", 100, 200) for name in sorted(bidding)}
    left = tuple(_MEMBERS)
    while left:
        found = choose(policies, question(_MEMBERS, *left, bids=bids, home="b"), state, uniform)
        assert found.member in left
        assert found.state.last == found.member
        left, state = tuple(name for name in left if name != found.member), found.state


def test_round_robin_takes_turns_whatever_refuses() -> None:
    policies, state, chosen = _policies("round-robin"), RoutingState(), []
    for among in ("abc", "abc", "ab", "abc"):
        found = choose(policies, question(_MEMBERS, *among), state, 0)
        chosen.append(found.member)
        state = found.state

    assert chosen == ["a", "b", "a", "b"]


@pytest.mark.parametrize("dispatch", _DISPATCHES)
def test_requests_follow_the_shares(dispatch: str) -> None:
    policies, state, chosen = _policies("bcf", dispatch), RoutingState(), Counter[str]()
    for number in range(700):
        found = choose(policies, question(_MEMBERS), state, (number * 0.6180339887) % 1)
        chosen[found.member] += 1
        state = found.state

    assert all(abs(chosen[name] - expected) < 3 for name, expected in (("a", 100), ("b", 200), ("c", 400)))


def test_members_without_a_share_are_chosen_when_all_others_have_refused() -> None:
    """With so few external requests, PAP gives the busy member none."""
    idle = member(100, external=arrivals(0.0001, 50, 5_000))
    members = {"busy": member(100, local=arrivals(0.9, 100, 20_000)), "idle": idle}
    policies = _policies("pap")

    assert {choose(policies, question(members), RoutingState(), u).member for u in (0.0, 0.5, 0.99)} == {"idle"}
    assert choose(policies, question(members, "busy"), RoutingState(), 0.5).member == "busy"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"allocaton": "pap"}, "routing: there is no family 'allocaton'; the families are: allocation, dispatch"),
        ({"allocation": "best"}, "routing.allocation: there is no policy 'best'; installed are: bcf, cheapest"),
        ({"dispatch": "pap"}, "routing.dispatch: there is no policy 'pap'; installed are: billiard, by-type, random"),
    ],
)
def test_unknown_names_are_refused_with_those_that_are_known(names: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        load_routing_policies(names, PolicyOptions())


@pytest.mark.parametrize(
    ("among", "message"), [((), "among: names no member"), (("x",), "among: has 'x'; the members are: a, b, c")]
)
def test_a_question_names_members_that_there_are(among: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        type(question(_MEMBERS))(question(_MEMBERS).terms, _MEMBERS, among)
