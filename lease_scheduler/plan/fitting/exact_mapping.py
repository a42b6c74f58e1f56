"""Exact mapping: hosts for node sets that compete for them, where every greedy order ends in a dead end.

What a host can take is a *pattern*: how many nodes of each set fit on it together. Hosts with the same patterns are
alike, so the question is only how many of them get which pattern. That is the cutting-stock formulation (Gilmore and
Gomory 1961, "A linear programming approach to the cutting-stock problem"), an integer program that HiGHS solves. If
each node takes a host for itself, the program is a flow, and the relaxation already has a solution in whole numbers.

A host that many small nodes of several sets could share has very many patterns, of which only some are considered. Then
a solution is still valid, but a tight one may be missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from lease_scheduler.plan.capacity.availability import IntArray

#: Maximum number of patterns of a host, and of all hosts together; but each host has some, however many there are.
_MOST_PATTERNS = 300
_MOST_VARIABLES = 6_000
_FEWEST_PATTERNS = 12
#: Maximum number of nodes of the search tree. It bounds the work and not the time, so that the same input gives the
#: same answer on every machine.
_MOST_TREE_NODES = 1_000
#: Up to this number of node sets, all their combinations are compared with the free capacity; beyond it, only pairs and
#: the whole.
_ALL_COMBINED = 4


@dataclass
class Attempts:
    """How many more exact mappings a search over many instants may try, before it tries only greedy orders.

    :ivar left: number of exact mappings that are left
    :ivar are_missing: whether there was an instant for which none was left
    """

    left: int = 4
    are_missing: bool = False

    @property
    def are_used_up(self) -> bool:
        """Whether none is left for an instant that needs one."""
        self.are_missing |= not self.left
        return not self.left


@dataclass(frozen=True)
class Competition:
    """Node sets that compete for hosts.

    :ivar free: what is free on each host, shape (classes, hosts); the preferred hosts come first
    :ivar amounts: needs of one node of each set, shape (sets, classes)
    :ivar counts: number of nodes of each set, shape (sets,)
    :ivar places: how many nodes of each set a host could take if it took no others, shape (sets, hosts)
    """

    free: IntArray
    amounts: IntArray
    counts: IntArray
    places: IntArray


def could_fit(competition: Competition) -> bool:
    """Return whether the hosts have enough free capacity in total for each combination of node sets.

    The condition is necessary but not sufficient. It is cheap, and most competitions that have no solution fail it. If
    each node takes a host for itself, it is Hall's condition.
    """
    amounts, counts, places = competition.amounts, competition.counts, competition.places
    if (places.sum(axis=1) < counts).any():
        return False
    free = np.maximum(competition.free, 0)
    number = len(counts)
    sizes = range(2, number + 1) if number <= _ALL_COMBINED else (2, number)
    for combined in (list(sets) for size in sizes for sets in combinations(range(number), size)):
        usable = np.minimum(free, amounts[combined].T @ places[combined])
        if (usable.sum(axis=1) < counts[combined] @ amounts[combined]).any():
            return False
    return True


def fit_exactly(competition: Competition) -> IntArray | None:
    """Return how many nodes of each set each host gets, shape (sets, hosts), or None if they do not all fit.

    Hosts that are alike are taken in the given order. None may also mean that the bound of work was reached.
    """
    # Imported here because that takes a third of a second, and most programs never need it.
    from scipy.optimize import LinearConstraint, milp  # type: ignore[import-untyped]
    from scipy.sparse import block_diag  # type: ignore[import-untyped]

    alike = _alike(competition)
    patterns = np.concatenate([group.patterns for group in alike])
    # Each host gets at most one pattern, and each node set all its nodes.
    at_most = LinearConstraint(
        block_diag([np.ones((1, len(group.patterns))) for group in alike]), ub=[len(group.hosts) for group in alike]
    )
    at_least = LinearConstraint(patterns.T, lb=competition.counts)
    solved = milp(
        np.zeros(len(patterns)),
        integrality=np.ones(len(patterns)),
        constraints=[at_least, at_most],
        options={"node_limit": _MOST_TREE_NODES},
    )
    # If the bound of work was reached, HiGHS may still have found a solution.
    if solved.x is None:
        return None
    chosen = np.rint(solved.x).astype(np.int64)
    taken = np.zeros_like(competition.places)
    first = 0
    for group in alike:
        given = group.patterns.repeat(chosen[first : first + len(group.patterns)], axis=0)
        taken[:, group.hosts[: len(given)]] = given.T
        first += len(group.patterns)
    # Patterns may give a set more than it needs; the hosts that come last give it back.
    before = taken.cumsum(axis=1) - taken
    left: IntArray = competition.counts[:, None] - before
    return np.minimum(np.maximum(left, 0), taken)


@dataclass(frozen=True)
class _Alike:
    """Hosts that can take the same combinations of nodes.

    :ivar hosts: their positions, ascending
    :ivar patterns: the largest combinations, shape (patterns, sets)
    """

    hosts: list[int]
    patterns: IntArray


def _alike(competition: Competition) -> list[_Alike]:
    """Return the hosts that can take a node, those with the same patterns together."""
    amounts = competition.amounts
    places: IntArray = np.minimum(competition.places, competition.counts[:, None])
    # Hosts that have more than enough are alike, too.
    room = np.clip(competition.free, 0, amounts.T @ places)
    usable = places.sum(axis=0).nonzero()[0]
    kinds, kind_of = np.unique(np.concatenate((places, room))[:, usable], axis=1, return_inverse=True)
    most = max(_FEWEST_PATTERNS, min(_MOST_PATTERNS, _MOST_VARIABLES // kinds.shape[1]))
    merged: dict[bytes, _Alike] = {}
    for number, kind in enumerate(kinds.T):
        patterns = _patterns(kind[: len(places)].tolist(), kind[len(places) :].tolist(), amounts.tolist(), most)
        group = merged.setdefault(patterns.tobytes(), _Alike([], patterns))
        group.hosts.extend(usable[kind_of.reshape(-1) == number].tolist())
    for group in merged.values():
        group.hosts.sort()
    return list(merged.values())


def _patterns(places: list[int], room: list[int], amounts: list[list[int]], most: int) -> IntArray:
    """Return the combinations of nodes that fit on a host and that are part of no larger one, shape (patterns, sets).

    :param most: approximate maximum number of them; if there are more, only every second, fourth, ... number of nodes
        is considered
    """
    step = 1
    while len(found := list(islice(_combinations(places, room, amounts, step), most + 1))) > most:
        if step > max(places):
            # Then only all or nothing of each set is considered.
            break
        step *= 2
    patterns: IntArray = np.array(found, dtype=np.int64)
    fits_in = (patterns[:, None] <= patterns).all(axis=-1)
    # Each fits in itself; in others, too, if it is a part of them.
    largest: IntArray = patterns[fits_in.sum(axis=1) == 1]
    return largest


def _combinations(places: list[int], room: list[int], amounts: list[list[int]], step: int) -> Iterator[tuple[int, ...]]:
    """Yield how many nodes of each set a host can take, with as many of the last set as fit beside the others.

    :param step: the numbers of each set are the largest one, those that are smaller by a multiple of this, and 0
    """
    most = places[0]
    for left, amount in zip(room, amounts[0], strict=True):
        if amount:
            most = min(most, left // amount)
    if len(places) == 1:
        yield (most,)
        return
    for number in (*range(most, 0, -step), 0):
        left_over = [each - number * amount for each, amount in zip(room, amounts[0], strict=True)]
        for others in _combinations(places[1:], left_over, amounts[1:], step):
            yield (number, *others)
