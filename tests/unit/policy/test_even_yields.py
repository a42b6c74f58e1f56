"""Moves that even out the yields of fluid nodes (dfrs F61, F68; issue 22, point 4)."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.plan.changing.moves import FluidLoad, Move, Placement
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.relocation.even_yields import EvenYields

_MEMORY = 4

Node = tuple[int, float]


def _placement(hosts: int, nodes: list[Node], room: float = 10.0, memory: list[int] | None = None) -> Placement:
    """Return a placement of nodes of one unit of memory each; hosts have four.

    :param nodes: host and need of each
    """
    at = np.array([host for host, _ in nodes], dtype=np.int64)
    sizes = np.array([memory or [1] * len(nodes)])
    used = np.bincount(at, weights=sizes[0], minlength=hosts).astype(np.int64)
    capacity = np.full((1, hosts), _MEMORY)
    of_node = np.array([need for _, need in nodes])
    load = FluidLoad(np.full(hosts, room), np.bincount(at, weights=of_node, minlength=hosts).astype(float), of_node)
    return Placement(capacity, capacity - used, sizes, at, at, np.ones(hosts, np.bool_), used > 0, load)


def _moves(placement: Placement) -> list[Move]:
    return EvenYields(PolicyOptions()).moves(placement)


def _least(placement: Placement, at: np.ndarray) -> float:
    assert placement.fluid is not None
    need = np.bincount(at, weights=placement.fluid.of_node, minlength=placement.capacity.shape[1])
    return float(np.minimum(placement.fluid.room / np.maximum(need, 1e-9), 1).min())


def test_the_move_that_helps_most_is_made() -> None:
    """20 are needed of 10 on one host, and nothing on the other: half of it moves, in two moves."""
    assert _moves(_placement(2, [(0, 10.0), (0, 5.0), (0, 5.0)])) == [Move(0, 1)]
    assert _moves(_placement(2, [(0, 8.0), (0, 8.0), (1, 1.0)])) == [Move(0, 1)]
    # Of equal ones, the smallest node moves.
    assert _moves(_placement(2, [(0, 8.0), (0, 8.0)], memory=[2, 1])) == [Move(1, 1)]


def test_nothing_moves_for_less_than_a_tenth() -> None:
    """From 10/12 to 1 is worth it, from 10/12 to 10/11 is not."""
    assert _moves(_placement(2, [(0, 10.0), (0, 2.0), (1, 8.0)])) == [Move(1, 1)]
    assert _moves(_placement(2, [(0, 10.0), (0, 2.0), (1, 9.0)])) == []
    assert _moves(_placement(2, [(0, 4.0), (0, 5.0)])) == []


def test_a_host_without_memory_takes_nothing() -> None:
    assert _moves(_placement(2, [(0, 10.0), (0, 10.0), (1, 0.0), (1, 0.0)], memory=[1, 1, 2, 2])) == []


def test_other_leases_stay() -> None:
    placement = _placement(2, [(0, 0.0), (0, 10.0), (0, 10.0)])
    assert all(move.node for move in _moves(placement))
    bare = Placement(**{**vars(placement), "fluid": None})
    assert _moves(bare) == []


@given(
    st.integers(2, 3).flatmap(
        lambda hosts: st.tuples(
            st.just(hosts), st.lists(st.tuples(st.integers(0, hosts - 1), st.integers(0, 9)), min_size=1, max_size=6)
        )
    )
)
@settings(deadline=None)
def test_moves_fit_are_worthwhile_and_at_most_optimal(case: tuple[int, list[tuple[int, int]]]) -> None:
    """Every step finds memory; the least yield rises by a tenth, and not above that of the best of all placements."""
    hosts, nodes = case
    placement = _placement(hosts, [(host, float(need)) for host, need in nodes])
    if (placement.free < 0).any():
        return
    at, free = placement.hosts.copy(), placement.free[0].copy()
    before = _least(placement, at)
    moves = _moves(placement)
    for move in moves:
        free[at[move.node]] += 1
        free[move.to] -= 1
        assert free[move.to] >= 0
        at[move.node] = move.to
    assert len({move.node for move in moves}) == len(moves)
    if moves:
        assert _least(placement, at) >= 1.1 * before
    every = (np.array(each) for each in product(range(hosts), repeat=len(nodes)))
    best = max(_least(placement, each) for each in every if np.bincount(each, minlength=hosts).max() <= _MEMORY)
    assert _least(placement, at) <= best + 1e-9
