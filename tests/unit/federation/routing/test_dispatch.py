"""Dispatch by shares (contention F34 to F36, E9, golden 9.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from lease_scheduler.federation.routing.dispatch.base import DispatchPolicy
from lease_scheduler.federation.routing.dispatch.billiard import Billiard
from lease_scheduler.federation.routing.dispatch.by_type import ByType
from lease_scheduler.federation.routing.dispatch.random import RandomDispatch
from lease_scheduler.federation.routing.dispatch.sequence import next_in_sequence
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.request_types import RequestType
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.random_streams import random_stream

from .members import member, of_type, question

_SHARES = {"1": 0.5, "2": 0.3, "3": 0.2}


def _sequence(shares: dict[str, float], fastest: str, count: int) -> list[str]:
    chosen, served = [], dict[str, float]()
    for _ in range(count):
        name, served = next_in_sequence(shares, tuple(shares), fastest, served)
        chosen.append(name)
    return chosen


def _dispatched(policy: DispatchPolicy, types: Sequence[RequestType], fastest: str = "1") -> list[str]:
    """Return where requests of these types go if one member is larger than the others."""
    members = {name: member(8 if name == fastest else 4) for name in _SHARES}
    chosen, state = [], RoutingState()
    for found in types:
        name, state = policy.dispatch(_SHARES, question(members, terms=of_type(found)), state, 0.0)
        chosen.append(name)
    return chosen


@st.composite
def _shares(draw: st.DrawFn, most: int = 12) -> dict[str, float]:
    parts = draw(st.lists(st.integers(1, 1_000), min_size=1, max_size=most))
    return {f"m{number}": part / sum(parts) for number, part in enumerate(parts)}


# -- the billiard sequence -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fastest", "sequence", "counts"),
    [
        ("1", "2 3 1 2 1 3 1 2 1 1 2 3 1 2 1 3 1 2 1 1", (10, 6, 4)),
        ("2", "1 3 1 2 1 3 1 2 1 1", (11, 5, 4)),
        ("3", "1 2 1 2 1 3 1 2 1 1", (11, 6, 3)),
    ],
)
def test_the_sequences_of_the_golden_vector(fastest: str, sequence: str, counts: tuple[int, ...]) -> None:
    expected = sequence.split()
    found = _sequence(_SHARES, fastest, 20)

    assert found[: len(expected)] == expected
    assert tuple(found.count(name) for name in _SHARES) == counts
    assert _dispatched(Billiard(PolicyOptions()), [RequestType.SUSPENDABLE] * 20, fastest) == found


def test_the_counts_of_the_golden_vector_after_a_thousand() -> None:
    assert Counter(_sequence(_SHARES, "1", 1_000)) == {"1": 500, "2": 300, "3": 200}


@settings(max_examples=300, deadline=None)
@given(_shares(), st.data())
def test_counts_stay_as_close_to_the_shares_as_is_proved(shares: dict[str, float], data: st.DataObject) -> None:
    """The bounds of ``routing.dispatch.sequence``, after every request."""
    fastest = data.draw(st.sampled_from(list(shares)))
    counts: Counter[str] = Counter()
    for number, chosen in enumerate(_sequence(shares, fastest, 200), start=1):
        counts[chosen] += 1
        for name, share in shares.items():
            is_fastest = name == fastest
            surplus = counts[name] - number * share
            assert surplus <= share + (not is_fastest) + 1e-6
            assert surplus >= -is_fastest - max(0, len(shares) - 2) * share - 1e-6


@settings(max_examples=200, deadline=None)
@given(_shares(most=3), st.data())
def test_counts_of_at_most_three_members_are_within_two_of_their_shares(
    shares: dict[str, float], data: st.DataObject
) -> None:
    chosen = _sequence(shares, data.draw(st.sampled_from(list(shares))), 200)
    for number in range(1, len(chosen) + 1):
        counts = Counter(chosen[:number])
        assert all(abs(counts[name] - number * share) < 2 for name, share in shares.items())


@pytest.mark.parametrize(("others", "share"), [(3, 0.99), (49, 0.5)])
def test_with_more_members_the_fastest_may_be_short_of_its_share_by_more_than_two(others: int, share: float) -> None:
    """Each of the others gets a request before it, which is nearly as bad as the bound allows."""
    shares = {"fast": share} | {f"m{number}": (1 - share) / others for number in range(others)}
    found = _sequence(shares, "fast", others + 1)

    assert found[-1] == "fast"
    assert "fast" not in found[:-1]
    bound = 1 + (len(shares) - 2) * share
    assert 2 < bound - 0.51 < others * share <= bound


@settings(max_examples=100, deadline=None)
@given(_shares(most=6), st.integers(0, 60), st.data())
def test_a_stored_state_continues_the_sequence(shares: dict[str, float], before: int, data: st.DataObject) -> None:
    fastest = data.draw(st.sampled_from(list(shares)))
    served: dict[str, float] = {}
    found = []
    for number in range(before + 20):
        if number == before:
            state = RoutingState("x", {"all": served})
            served = dict(RoutingState.restored(state.as_document()).served["all"])
        name, served = next_in_sequence(shares, tuple(shares), fastest, served)
        found.append(name)

    assert found == _sequence(shares, fastest, before + 20)


def test_a_new_member_catches_up_with_nothing() -> None:
    old, served = {"a": 0.5, "b": 0.5}, dict[str, float]()
    for _ in range(1_000):
        _, served = next_in_sequence(old, tuple(old), "a", served)
    shares, chosen = {"a": 0.25, "b": 0.25, "c": 0.5}, Counter[str]()
    for _ in range(100):
        name, served = next_in_sequence(shares, tuple(shares), "a", served)
        chosen[name] += 1

    assert all(abs(chosen[name] - 100 * share) < 2 for name, share in shares.items())


def test_after_a_change_of_shares_the_counts_follow_the_new_ones() -> None:
    served: dict[str, float] = {}
    chosen: Counter[str] = Counter()
    for number in range(1_000):
        shares = {"a": 0.9, "b": 0.1} if number < 500 else {"a": 0.2, "b": 0.8}
        name, served = next_in_sequence(shares, tuple(shares), "a", served)
        if number >= 500:
            chosen[name] += 1

    assert abs(chosen["a"] - 100) < 3


def test_members_that_refused_are_passed_over_and_keep_their_turn() -> None:
    first, served = next_in_sequence(_SHARES, ("1", "3"), "1", {})
    second, _ = next_in_sequence(_SHARES, ("1", "2", "3"), "1", served)

    assert (first, second) == ("3", "2")


# -- by type ---------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(list(RequestType)), max_size=120))
def test_each_type_has_a_sequence_of_its_own(types: list[RequestType]) -> None:
    by_type: dict[RequestType, list[str]] = {}
    for found, chosen in zip(types, _dispatched(ByType(PolicyOptions()), types), strict=True):
        by_type.setdefault(found, []).append(chosen)

    for found, chosen_of_type in by_type.items():
        assert chosen_of_type == _sequence(_SHARES, "1", len(chosen_of_type)), found


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(list(RequestType)), max_size=200))
def test_each_member_gets_its_share_of_each_type(types: list[RequestType]) -> None:
    """Three members, so each count is within two of the share (contention E9)."""
    counts = Counter(zip(types, _dispatched(ByType(PolicyOptions()), types), strict=True))
    of_each = Counter(types)

    for found in RequestType:
        for name, share in _SHARES.items():
            assert abs(counts[found, name] - share * of_each[found]) < 2


# -- at random -------------------------------------------------------------------------------------------


def test_random_dispatch_draws_members_by_their_shares() -> None:
    policy, random = RandomDispatch(PolicyOptions()), random_stream(7, "dispatch")
    asked = question({name: member(4) for name in _SHARES})
    state = RoutingState()
    chosen = Counter(policy.dispatch(_SHARES, asked, state, random.random())[0] for _ in range(20_000))

    assert chisquare([chosen[name] for name in _SHARES], [20_000 * share for share in _SHARES.values()]).pvalue > 0.01


@given(st.floats(0, 1, exclude_max=True), st.sets(st.sampled_from(list(_SHARES)), min_size=1))
def test_random_dispatch_divides_the_unit_interval(uniform: float, among: set[str]) -> None:
    names = [name for name in _SHARES if name in among]
    asked = question({name: member(4) for name in _SHARES}, *names)
    chosen, _ = RandomDispatch(PolicyOptions()).dispatch(_SHARES, asked, RoutingState(), uniform)

    whole = sum(_SHARES[name] for name in names)
    before = sum(_SHARES[name] for name in names[: names.index(chosen)])
    assert before / whole - 1e-9 <= uniform <= (before + _SHARES[chosen]) / whole + 1e-9


# -- the state -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document", [{}, {"last": None}, {"last": None, "served": []}, {"last": None, "served": {"all": {"a": "x"}}}]
)
def test_a_document_that_is_no_state_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError, match="document: is no stored state of a router"):
        RoutingState.restored(document)


def test_positions_that_no_member_has_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="document.served: must have finite numbers of at least 0"):
        RoutingState.restored({"last": "a", "served": {"all": {"a": -1}}})
