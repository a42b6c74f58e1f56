"""The least yield on fewer nodes (dfrs F29), on instances that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lease_scheduler.fractional.fewer_nodes import Occupancy, least_yields


def _occupancy(
    cpu: Sequence[float], held: Sequence[float], place: Sequence[int], nodes: int, **others: Any
) -> Occupancy:
    count = len(cpu)
    values: dict[str, Any] = {
        "least": np.zeros(count),
        "stays": np.zeros(count, np.bool_),
        "load": np.zeros(nodes),
        "others_held": np.zeros(nodes),
        "closed": np.zeros(0, np.int64),
        "leaving": np.arange(nodes)[::-1],
    }
    values |= {name: np.array(value, values[name].dtype) for name, value in others.items()}
    return Occupancy(np.array(cpu, float), held=np.array(held, float), place=np.array(place, np.int64), **values)


def test_four_tasks_share_what_remains() -> None:
    """Four tasks that need a node each: on 4, 3, 2 nodes and 1 node, the slowest has 1, 1/2, 1/2 and 1/4."""
    occupancy = _occupancy([1.0] * 4, [0.2] * 4, [0, 1, 2, 3], 4)
    found = least_yields(occupancy, (0, 1, 2, 3, 4, 9))
    assert [found[count] for count in (0, 1, 2, 3)] == pytest.approx([1.0, 0.5, 0.5, 0.25])
    assert (found[4], found[9]) == (None, None)


def test_memory_decides_how_many_nodes_are_needed() -> None:
    """Three tasks with 0.6 of the memory of a node do not fit on two nodes."""
    found = least_yields(_occupancy([0.1] * 3, [0.6] * 3, [0, 1, 2], 4), (0, 1, 2))
    assert (found[0], found[1], found[2]) == (1.0, 1.0, None)


def test_others_keep_what_they_hold() -> None:
    """Node 0 has half of its CPU left, so both tasks there get a quarter of what they need."""
    found = least_yields(_occupancy([1.0, 1.0], [0.1, 0.1], [1, 2], 3, load=[0.5, 0, 0], leaving=[2, 1]), (0, 2))
    assert found == {0: 1.0, 2: pytest.approx(0.25)}


def test_tasks_that_cannot_move_stay() -> None:
    """Both stay on node 0, whatever else is free."""
    occupancy = _occupancy([1.0, 1.0], [0.1, 0.1], [0, 0], 3, stays=[True, True], leaving=[2, 1])
    assert least_yields(occupancy, (0, 2)) == {0: 0.5, 2: 0.5}


def test_tasks_keep_the_cpu_that_they_hold() -> None:
    """The first one holds 0.8 of a node. What is left is shared by what is needed beyond: 0.2 + 0.8 = 1."""
    found = least_yields(_occupancy([1.0, 0.8], [0.8, 0.1], [0, 0], 1, least=[0.8, 0.0], leaving=[]), (0,))
    assert found[0] == pytest.approx(0.2)


def test_the_present_placement_counts_if_it_is_better() -> None:
    """A packing fills node 0 first, and the last task does not fit on node 2: the present placement is better.

    With loads (0, 0, 0.9), memory lets one task run on each node at most.
    """
    occupancy = _occupancy([0.1, 0.9, 1.0], [0.6, 0.6, 0.6], [2, 0, 1], 3, load=[0, 0, 0.9], leaving=[])
    assert least_yields(occupancy, (0,)) == {0: pytest.approx(1.0)}


def test_tasks_leave_closed_nodes() -> None:
    """A task on a node that is out of service needs another place."""
    found = least_yields(_occupancy([1.0, 1.0], [0.1, 0.1], [0, 1], 2, closed=[1], leaving=[]), (0,))
    assert found[0] == pytest.approx(0.5)


def test_without_tasks_the_least_yield_is_one() -> None:
    assert least_yields(_occupancy([], [], [], 2), (0, 2)) == {0: 1.0, 2: 1.0}
