"""Candidate sets and what leases give by leaving (contention F16)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.plan.fitting.candidates import Block, Gains, Stack, greedy_set, members, minimal_sets, packed


def _sets(found: list[int]) -> set[frozenset[int]]:
    return {frozenset(members(each)) for each in found}


def _alone(*gains: int, missing: int) -> Gains:
    return Gains(len(gains), [missing], [Block(1 << number, gain) for number, gain in enumerate(gains)], [])


def test_the_minimal_sets_are_those_of_table_7_1() -> None:
    """contention 9.1: leases 1 to 6 hold 3, 1, 2, 1, 2, 3 of the nodes, 5 are needed and none is free."""
    found = minimal_sets(_alone(3, 1, 2, 1, 2, 3, missing=5))
    assert {frozenset(number + 1 for number in each) for each in _sets(found)} == {
        frozenset(each) for each in ({1, 3}, {1, 5}, {1, 6}, {3, 6}, {5, 6}, {1, 2, 4}, {2, 3, 5}, {2, 4, 6}, {3, 4, 5})
    }


def test_each_host_gives_one_minimal_set() -> None:
    """contention figure 3.2: five leases on three hosts, one node is requested."""
    blocks = [Block(0b00011, 1), Block(0b10101, 1), Block(0b01000, 1)]
    assert _sets(minimal_sets(Gains(5, [1], blocks, []))) == {
        frozenset({0, 1}),
        frozenset({0, 2, 4}),
        frozenset({3}),
    }


@pytest.mark.parametrize(
    ("gains", "missing", "expected"), [((), 1, set()), ((1,), 1, {frozenset({0})}), ((1,), 2, set())]
)
def test_sets_of_no_lease_and_of_one_lease(gains: tuple[int, ...], missing: int, expected: set[frozenset[int]]) -> None:
    assert _sets(minimal_sets(_alone(*gains, missing=missing))) == expected


def test_a_greedy_search_among_thousands_of_leases_ends() -> None:
    """Only searches in a given order are possible then: a lease more does not double the time."""
    gains = _alone(*[1 + number % 7 for number in range(5_000)], missing=60)
    found = greedy_set(gains, list(range(5_000)))
    assert found is not None
    assert sum(1 + number % 7 for number in members(found)) >= 60


def test_a_greedy_set_keeps_nothing_superfluous() -> None:
    gains = _alone(1, 1, 5, 2, missing=5)
    assert members(greedy_set(gains, [0, 1, 2, 3]) or 0) == [2]
    assert greedy_set(_alone(1, 1, missing=5), [0, 1]) is None


def _brute_force(gains: Gains, gained: dict[int, int]) -> set[frozenset[int]]:
    enough = [each for each in range(1 << gains.count) if gains.is_enough(gained[each])]
    known = set(enough)
    return {
        frozenset(members(each))
        for each in enough
        if all(each ^ (1 << number) not in known for number in members(each))
    }


@st.composite
def _gains(draw: st.DrawFn) -> tuple[Gains, dict[int, int]]:
    """Draw hosts on which leases free places alone, together or in part, and what every set of leases gives."""
    count = draw(st.integers(1, 7))
    kinds = draw(st.integers(1, 2))
    blocks, stacks = [], []
    for _ in range(draw(st.integers(0, 6))):
        there = draw(st.integers(1, (1 << count) - 1))
        gain = [draw(st.integers(0, 3)) for _ in range(kinds)]
        if draw(st.booleans()):
            blocks.append(Block(there, packed(gain)))
        else:
            needed = draw(st.integers(1, there.bit_count()))
            table = {
                left: packed([each * (left.bit_count() // needed) for each in gain])
                for left in range(1 << count)
                if left & there == left
            }
            stacks.append(Stack(there, table.__getitem__))
    gained = {
        left: sum(b.gain for b in blocks if b.leases & left == b.leases) + sum(s.gain(left & s.leases) for s in stacks)
        for left in range(1 << count)
    }
    return Gains(count, [draw(st.integers(0, 5)) for _ in range(kinds)], blocks, stacks), gained


@settings(max_examples=300, deadline=None)
@given(_gains().flatmap(lambda drawn: st.tuples(st.just(drawn), st.permutations(range(drawn[0].count)))))
def test_the_search_finds_what_trying_all_sets_finds(drawn: tuple[tuple[Gains, dict[int, int]], list[int]]) -> None:
    (gains, gained), order = drawn
    expected = _brute_force(gains, gained)
    if expected == {frozenset()}:
        expected = set()
    found = minimal_sets(gains)
    assert _sets(found) == expected
    assert len(found) == len(set(found))
    assert gains.most == gained[(1 << gains.count) - 1]
    greedy = greedy_set(gains, order)
    assert (greedy is None) == (not gains.is_enough(gains.most))
    if greedy:
        assert frozenset(members(greedy)) in expected
