from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.online.decisions import Jobs
from lease_scheduler.fractional.online.remap import STRETCH_WIDTH, YIELD_WIDTH, Outlook, map_anew

_YIELD = Outlook(0.0, np.empty(0), np.empty(0))
_BOTH = pytest.mark.parametrize("literal", [False, True])


def _jobs(*rows: tuple[int, float, float]) -> Jobs:
    """Jobs of (tasks, CPU, memory)."""
    widths, cpu, memory = zip(*rows, strict=True)
    return Jobs(np.array(cpu, float), np.array(memory, float), np.concatenate([[0], np.cumsum(widths)]))


def _map(
    jobs: Jobs,
    nodes: int,
    *,
    literal: bool = False,
    kept_on: dict[int, list[int]] | None = None,
    outlook: Outlook = _YIELD,
) -> tuple[int, list[int], Floats]:
    count = len(jobs.cpu)
    place: Integers = np.zeros(jobs.first[-1], np.int64)
    keeps = np.zeros(count, np.bool_)
    for job, on in (kept_on or {}).items():
        place[jobs.first[job] : jobs.first[job + 1]] = on
        keeps[job] = True
    nobody = np.zeros(nodes)
    kept, found, aims = map_anew(np.arange(count), jobs, place, keeps, nobody, nobody, outlook, literal)
    return kept, found.tolist(), aims


@_BOTH
def test_the_yield_is_the_highest_that_can_be_packed(literal: bool) -> None:
    """dfrs F42, A20: four tasks of CPU 1 on two nodes have 0.5."""
    kept, found, aims = _map(_jobs((4, 1.0, 0.1)), 2, literal=literal)
    assert kept == 1 and sorted(found) == [0, 0, 1, 1]
    assert aims == pytest.approx([0.5], abs=YIELD_WIDTH) and aims[0] <= 0.5


@_BOTH
def test_jobs_of_the_lowest_priority_are_left_out(literal: bool) -> None:
    """dfrs F42, A20: memory is enough for each two of these in all, but not on any one node."""
    kept, found, _ = _map(_jobs((1, 1.0, 0.6), (1, 1.0, 0.6), (1, 1.0, 0.6)), 2, literal=literal)
    assert kept == 2 and sorted(found) == [0, 1]


def test_a_job_that_does_not_fit_is_left_out() -> None:
    """dfrs A20: two tasks of 0.6 do not fit on the only node."""
    assert _map(_jobs((2, 1.0, 0.6)), 1)[:2] == (0, [])


def test_loads_of_cpu_and_memory_are_levelled() -> None:
    """dfrs A20: each node has a task that takes CPU and one that takes memory, at (nearly) full speed."""
    _, found, aims = _map(_jobs((2, 0.9, 0.1), (2, 0.1, 0.9)), 2)
    assert sorted(found[:2]) == sorted(found[2:]) == [0, 1]
    assert aims == pytest.approx(np.ones(2), abs=YIELD_WIDTH)


def test_lists_are_in_the_order_of_their_larger_need() -> None:
    """dfrs A20: of equal CPU, the job with more memory is the first one on the first node."""
    _, found, _ = _map(_jobs((1, 1.0, 0.4), (1, 1.0, 0.5)), 2)
    assert found == [1, 0]


def test_jobs_that_keep_their_nodes_are_charged_first() -> None:
    """dfrs F46, A21."""
    _, found, _ = _map(_jobs((1, 1.0, 0.4), (1, 1.0, 0.5)), 2, kept_on={0: [0]})
    assert found == [0, 1]


def test_a_job_that_would_keep_its_nodes_can_be_left_out() -> None:
    """dfrs A21: job 0 has the higher priority."""
    kept, found, _ = _map(_jobs((1, 1.0, 0.6), (1, 1.0, 0.6)), 1, kept_on={1: [0]})
    assert (kept, found) == (1, [0])


def test_the_literal_search_may_keep_more() -> None:
    """dfrs A20, F42: packing is not monotone. At the smallest yield all tasks but one are in the list of memory.

    They then are 0.41 + 0.41 on the first node, 0.28 three times on the second one, and one too many. At a higher yield
    the tasks of job 2 are in the list of CPU, so that one of them is beside a task of job 0.
    """
    jobs = _jobs((2, 0.1, 0.41), (2, 0.2, 0.28), (2, 0.92, 0.28))
    assert [_map(jobs, 2, literal=literal)[0] for literal in (False, True)] == [2, 3]


def test_the_estimated_stretch_is_the_lowest_that_can_be_packed() -> None:
    """dfrs F50, A24: (50 + 600 x) / 700 = y and x + y = 1: both 0.5, whose stretch is 2."""
    outlook = Outlook(600.0, np.array([100.0, 0]), np.array([50.0, 0]))
    kept, found, aims = _map(_jobs((1, 1.0, 0.1), (1, 1.0, 0.1)), 1, outlook=outlook)
    assert kept == 2 and found == [0, 0]
    assert aims == pytest.approx([0.5, 0.5], abs=3 * STRETCH_WIDTH) and aims.sum() <= 1 + 1e-9


def test_jobs_with_a_low_stretch_get_the_smallest_share() -> None:
    """dfrs A24: job 0 has had full speed for long."""
    outlook = Outlook(600.0, np.array([1e6, 0]), np.array([1e6, 0]))
    _, _, aims = _map(_jobs((1, 1.0, 0.1), (1, 1.0, 0.1)), 1, outlook=outlook)
    assert aims == pytest.approx([0.01, 0.99], abs=3 * STRETCH_WIDTH)
