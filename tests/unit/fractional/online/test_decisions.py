from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.online.decisions import Jobs, admit, by_priority, greedy_nodes


def _jobs(*rows: tuple[int, float, float]) -> Jobs:
    """Jobs of (tasks, CPU, memory)."""
    widths, cpu, memory = zip(*rows, strict=True)
    return Jobs(np.array(cpu, float), np.array(memory, float), np.concatenate([[0], np.cumsum(widths)]))


def test_priority_is_flow_time_by_virtual_time_squared() -> None:
    """dfrs F43, A17: 100 / 10^2 = 1, infinity, 50 / 20^2 = 1/8, 50 / 5^2 = 2."""
    order = by_priority(np.array([3, 4, 6, 9]), np.array([100.0, 100, 50, 50]), np.array([10.0, 0, 20, 5]))
    assert order.tolist() == [4, 9, 3, 6]


def test_of_equal_priorities_the_first_submission_is_first() -> None:
    """dfrs A17: jobs that have not run, and one that is submitted right now."""
    assert by_priority(np.arange(3), np.array([100.0, 50, 0]), np.zeros(3)).tolist() == [0, 1, 2]


def test_tasks_go_to_the_least_loaded_node_with_enough_memory() -> None:
    """dfrs F39, A16: node 2 has no memory left; at equal loads the first node is taken."""
    load, held = np.array([0.5, 0, 0]), np.array([0, 0, 0.95])
    jobs = _jobs((2, 0.25, 0.1), (3, 0.25, 0.1))
    assert greedy_nodes(0, jobs, load, held).tolist() == [1, 1]
    assert greedy_nodes(1, jobs, load, held).tolist() == [0, 1, 1]
    assert load.tolist() == [0.5, 0, 0] and held.tolist() == [0, 0, 0.95]


def test_cpu_may_be_overloaded_but_memory_not() -> None:
    """dfrs F39."""
    jobs = _jobs((2, 1.0, 0.5), (3, 1.0, 0.5), (1, 0.1, 0.0))
    assert greedy_nodes(0, jobs, np.array([7.0]), np.array([0.0])).tolist() == [0, 0]
    assert greedy_nodes(1, jobs, np.array([0.0]), np.array([0.0])).tolist() == []
    assert greedy_nodes(2, jobs, np.array([9.0]), np.array([1.0])).tolist() == [0]


def test_memory_that_fills_a_node_to_the_last_bit_fits() -> None:
    """Ten tenths are a node, however they are added up."""
    held = np.array([0.1 + 0.2 + 0.3 + 0.1])
    assert len(greedy_nodes(0, _jobs((3, 0.1, 0.1)), np.zeros(1), held)) == 3
    assert len(greedy_nodes(0, _jobs((4, 0.1, 0.1)), np.zeros(1), held)) == 0


def test_the_lowest_priority_is_paused_for_a_job_and_others_are_not() -> None:
    """dfrs F40, A18: job 0 is marked first, which is of no use; then job 1, whose node is enough."""
    jobs = _jobs((1, 1, 0.1), (1, 1, 0.5), (1, 1, 0.9), (1, 1, 0.8))
    place, load, held = np.array([0, 1, 0, -1]), np.array([2.0, 1]), np.array([1.0, 0.5])
    nodes, is_paused = admit(3, np.array([0, 1, 2]), jobs, place, load, held)
    assert nodes.tolist() == [1]
    assert is_paused.tolist() == [False, True, False]
    assert held.tolist() == [1.0, 0.5] and load.tolist() == [2.0, 1]


def test_no_job_is_paused_unless_that_lets_the_new_one_fit() -> None:
    """dfrs F40."""
    jobs = _jobs((1, 1, 0.3), (1, 1, 0.7), (2, 1, 0.7))
    place, load, held = np.array([0, -1, -1, -1]), np.array([1.0]), np.array([0.3])
    nodes, is_paused = admit(1, np.array([0]), jobs, place, load, held)
    assert nodes.tolist() == [0] and is_paused.tolist() == [False]
    nodes, is_paused = admit(2, np.array([0]), jobs, place, load, held)
    assert nodes.tolist() == [] and is_paused.tolist() == [False]


def test_of_two_marked_jobs_the_one_of_higher_priority_stays() -> None:
    """dfrs A18: both must be marked for 0.7 on the node of each; then job 1 of 0.3 fits, but not both."""
    jobs = _jobs((1, 1, 0.3), (1, 1, 0.3), (1, 1, 0.7), (1, 1, 0.4))
    place, held = np.array([0, 0, -1, 0]), np.array([1.0])
    nodes, is_paused = admit(2, np.array([0, 3, 1]), jobs, place, np.array([3.0]), held)
    assert nodes.tolist() == [0]
    assert is_paused.tolist() == [True, True, False]
