"""How nodes are distributed over hosts (haizea F30)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.fitting.mapper import distributed
from lease_scheduler.plan.interfaces import Mapper
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy

GREEDY, SPREAD = (load_policy("mapper", name, PolicyOptions()) for name in ("greedy", "spread"))


def _spread(places: list[int], present: list[int], count: int) -> list[int]:
    return list(SPREAD.distribute(np.array(places), np.array(present), count))


@pytest.mark.parametrize(
    ("places", "present", "count", "expected"),
    [
        ([4, 4, 4], [0, 0, 0], 3, [1, 1, 1]),
        ([4, 4, 4], [0, 0, 0], 4, [2, 1, 1]),
        ([4, 4, 4], [0, 0, 0], 2, [1, 1, 0]),
        ([1, 4, 1], [0, 0, 0], 5, [1, 3, 1]),
        ([4, 4, 4], [2, 0, 1], 3, [0, 2, 1]),
        ([4, 4, 4], [2, 0, 1], 4, [1, 2, 1]),
        ([2, 2], [0, 0], 4, [2, 2]),
        ([3], [7], 2, [2]),
    ],
)
def test_spread_fills_hosts_evenly_and_the_best_ones_first(
    places: list[int], present: list[int], count: int, expected: list[int]
) -> None:
    assert _spread(places, present, count) == expected


_HOSTS = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 4)), min_size=1, max_size=8)


@given(_HOSTS, st.data())
def test_no_node_could_move_to_a_host_with_fewer_of_its_lease(
    hosts: list[tuple[int, int]], data: st.DataObject
) -> None:
    places, present = (np.array(column) for column in zip(*hosts, strict=True))
    count = data.draw(st.integers(1, int(places.sum())))

    taken = distributed(SPREAD, places, present, count)

    assert taken is not None
    there = present + taken
    for giver in np.flatnonzero(taken):
        assert not ((places > taken) & (there + 1 < there[giver])).any()


@pytest.mark.parametrize("mapper", [GREEDY, SPREAD])
def test_nodes_that_do_not_all_fit_are_not_distributed(mapper: object) -> None:
    assert distributed(mapper, np.array([2, 1]), np.array([0, 0]), 4) is None  # type: ignore[arg-type]
    assert distributed(mapper, np.empty(0, np.int64), np.empty(0, np.int64), 1) is None  # type: ignore[arg-type]


class _Wrong(Mapper):
    def __init__(self, answer: list[int]) -> None:
        self._answer = answer

    def distribute(self, places: IntArray, present: IntArray, count: int) -> IntArray:
        return np.array(self._answer)


@pytest.mark.parametrize("answer", [[1], [3], [2, 1], [3, -1], [1, 2]])
def test_a_mapper_that_would_overbook_is_caught(answer: list[int]) -> None:
    with pytest.raises(RuntimeError, match="_Wrong"):
        distributed(_Wrong(answer), np.array([2, 1]), np.array([0, 0]), 2)
