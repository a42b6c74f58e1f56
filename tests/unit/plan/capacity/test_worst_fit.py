"""WorstFit over class vectors: spread first, grow afterwards (shirako F69-F73; Grit 2007, section 6.1)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.plan.capacity.worst_fit import Slivers, grown, kept_first, spread_worst_fit, worst_fit

#: Golden vector G5: free (cpu, memory) of four hosts.
FREE = np.array([[10, 8, 8, 3], [10, 4, 9, 10]])
WANTED = Slivers(fewest=3, most=5, smallest=np.array([2, 2]), largest=np.array([4, 4]))


def test_the_golden_example_has_the_printed_allotment() -> None:
    found = worst_fit(FREE, WANTED)
    assert found is not None
    assert found.counts.tolist() == [2, 1, 1, 1]
    assert found.size.tolist() == [3, 4]


def test_fewer_slivers_than_the_minimum_are_refused() -> None:
    assert worst_fit(FREE, Slivers(14, 20, np.array([2, 2]), np.array([2, 2]))) is None


def test_as_many_slivers_as_fit_are_placed_if_the_minimum_fits() -> None:
    found = worst_fit(FREE, Slivers(3, 20, np.array([2, 2]), np.array([4, 4])))
    assert found is not None
    assert found.counts.tolist() == [5, 2, 4, 1]
    assert found.size.tolist() == [2, 2]


def test_space_decides_which_hosts_the_last_pass_takes() -> None:
    """shirako P26: with capacities, by shares of them: 6 of 8 is more than 8 of 16."""
    free, size = np.array([[8, 6]]), np.array([1])
    assert spread_worst_fit(free, size, 1).tolist() == [1, 0]
    assert spread_worst_fit(free, size, 1, np.array([[16, 8]])).tolist() == [0, 1]


def test_slivers_grow_in_grains() -> None:
    """shirako F22: 10 free for 2 slivers is 5 each, or 4 in grains of 2."""
    free, counts = np.array([[10, 9]]), np.array([2, 1])
    assert grown(free, counts, np.array([16])).tolist() == [5]
    assert grown(free, counts, np.array([16]), np.array([2])).tolist() == [4]


def test_a_coarse_grain_takes_nothing_from_the_smallest_sliver() -> None:
    """shirako A15: hosts are chosen for 3, so 3 is granted although a grain is 4."""
    wanted = Slivers(2, 2, np.array([3]), np.array([16]))
    found = worst_fit(np.array([[7]]), wanted, grain=np.array([4]))
    assert found is not None
    assert (found.counts.tolist(), found.size.tolist()) == ([2], [3])
    larger = worst_fit(np.array([[9]]), wanted, grain=np.array([4]))
    assert larger is not None and larger.size.tolist() == [4]


@pytest.mark.parametrize(
    ("held", "count", "kept"),
    [
        ([0, 1, 2], 3, (0, 2, 1)),
        ([0, 1, 3], 3, (0, 1)),
        ([0, 1, 2], 2, (0, 2)),
        ([1, 1, 1], 3, (1,)),
    ],
)
def test_an_extension_keeps_hosts_where_the_sliver_still_fits(
    held: list[int], count: int, kept: tuple[int, ...]
) -> None:
    """shirako F73: the fullest hosts lose theirs first if fewer are wanted."""
    assert kept_first(FREE, np.array([4, 4]), held, count) == kept
