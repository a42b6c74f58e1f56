from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.arrays import Integers
from lease_scheduler.fractional.online.decisions import Jobs
from lease_scheduler.fractional.online.sharing import STEP, average_yields, fair_yields, stretch_yields


def _placed(*rows: tuple[float, list[int]]) -> tuple[Integers, Jobs, Integers]:
    """Running jobs of (CPU, nodes of the tasks)."""
    first = np.concatenate([[0], np.cumsum([len(nodes) for _, nodes in rows])])
    jobs = Jobs(np.array([cpu for cpu, _ in rows], float), np.zeros(len(rows)), first)
    return np.arange(len(rows)), jobs, np.array([node for _, nodes in rows for node in nodes])


def test_without_overload_all_jobs_have_full_speed() -> None:
    """dfrs F47."""
    placed = _placed((0.5, [0, 1]), (0.5, [0]))
    assert fair_yields(*placed, 2).tolist() == average_yields(*placed, 2, None).tolist() == [1, 1]


def test_the_largest_load_gives_the_least_yield() -> None:
    """dfrs F47: 25 % and 50 % and 75 % of a node are 150 %, so all get 2/3 (section 3.1)."""
    placed = _placed((0.25, [0]), (0.5, [0]), (0.75, [0]))
    assert fair_yields(*placed, 1) == pytest.approx([2 / 3] * 3)
    assert average_yields(*placed, 1, None) == pytest.approx([2 / 3] * 3)


def test_what_a_bound_job_leaves_on_another_node_is_for_the_others() -> None:
    """dfrs F49: node 0 bounds jobs 0 and 1 to 0.5, so that job 2 has half of node 1 for its need of 0.5."""
    placed = _placed((1.0, [0]), (1.0, [0, 1]), (0.5, [1]))
    assert fair_yields(*placed, 2) == pytest.approx([0.5, 0.5, 1])


def test_fair_yields_are_levelled_node_by_node() -> None:
    """dfrs F49: node 1 has three jobs of 1; job 0 gets what job 1 leaves of node 0; no other job is on node 2."""
    placed = _placed((1.0, [0]), (1.0, [0, 1]), (1.0, [1]), (1.0, [1]), (1.0, [2]))
    assert fair_yields(*placed, 3) == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3, 1])


def test_two_tasks_of_a_job_on_one_node_count_twice() -> None:
    """dfrs F49: loads are 2 x 0.5 + 1."""
    placed = _placed((0.5, [0, 0]), (1.0, [0]))
    assert fair_yields(*placed, 1) == pytest.approx([0.5, 0.5])


def test_the_average_prefers_small_needs() -> None:
    """dfrs F48: the least yield is 0.5 because of node 1. On node 0 the fair yields are 2/3."""
    placed = _placed((1.0, [0]), (0.5, [0]), (1.0, [1]), (1.0, [1]))
    assert fair_yields(*placed, 2) == pytest.approx([2 / 3, 2 / 3, 0.5, 0.5])
    assert average_yields(*placed, 2, None) == pytest.approx([0.5, 1, 0.5, 0.5])


def test_the_average_respects_weights_and_least_yields() -> None:
    """dfrs F50: job 0 counts more; job 1 keeps its least yield."""
    placed = _placed((1.0, [0]), (1.0, [0]))
    found = average_yields(*placed, 1, np.array([0.1, 0.3]), np.array([2.0, 1.0]))
    assert found == pytest.approx([0.7, 0.3])


def test_stretches_are_levelled() -> None:
    """dfrs F50, A24: (50 + 600 x) / 700 = (600 y) / 600 and x + y = 1, so both are 0.5."""
    placed = _placed((1.0, [0]), (1.0, [0]))
    flow, virtual = np.array([100.0, 0]), np.array([50.0, 0])
    found = stretch_yields(*placed, 1, np.array([0.1, 0.2]), flow, virtual, 600.0)
    assert found == pytest.approx([0.5, 0.5], abs=2 * STEP)
    assert found.sum() <= 1 + 1e-9


def test_least_yields_are_kept_and_one_is_the_most() -> None:
    """dfrs A24: job 0 gets nothing more on node 0; job 2 alone gets everything."""
    placed = _placed((1.0, [0]), (1.0, [0]), (1.0, [1]))
    found = stretch_yields(*placed, 2, np.array([0.3, 0.7, 0.01]), np.full(3, 100.0), np.zeros(3), 600.0)
    assert found == pytest.approx([0.3, 0.7, 1])
