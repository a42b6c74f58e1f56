from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.linear.programs import adaptation, optimum, relaxation
from lease_scheduler.fractional.problem import Instance, place
from lease_scheduler.simulation.generators.instances import InstanceLaw
from tests.unit.fractional.instances import instance


def _by_trying(jobs: Instance) -> float | None:
    found = (place(jobs, np.array(nodes)) for nodes in product(range(jobs.nodes), repeat=jobs.jobs))
    return max((placement.least for placement in found if placement is not None), default=None)


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_all_placements(seed: int) -> None:
    """dfrs F6."""
    jobs = InstanceLaw(3, 6, 4, 0.5, 0.5, 0.2).draw(seed)
    best, found = _by_trying(jobs), optimum(jobs)
    assert (best is None) == (found is None)
    if found is not None:
        assert found.least == pytest.approx(best, abs=1e-5)


def test_jobs_that_do_not_fit_have_no_solution() -> None:
    """dfrs F6."""
    assert optimum(instance(1, *[(0, [0.6], [0.1])] * 2)) is None
    assert relaxation(instance(1, *[(0, [0.6], [0.1])] * 2)) is None


def test_without_jobs_the_optimum_is_one() -> None:
    found = optimum(Instance(1, np.empty(0), np.empty((0, 1)), np.empty((0, 1))))
    assert found is not None and found.least == 1


def test_the_relaxation_divides_jobs() -> None:
    """dfrs F8: three jobs on two nodes have more than any placement gives them, and each is on its nodes completely."""
    jobs = instance(2, *[(0, [0.1], [0.8])] * 3)
    found = relaxation(jobs)
    assert found is not None and found.least == pytest.approx(2 / 2.4)
    assert found.shares.sum(axis=1) == pytest.approx([1, 1, 1])
    fixed = relaxation(jobs, lower=np.array([[1.0, 0], [1, 0], [0, 1]]))
    assert fixed is not None and fixed.least == pytest.approx(0.625)
    assert relaxation(jobs, upper=np.array([[0.0, 0], [1, 1], [1, 1]])) is None


@pytest.mark.parametrize("budget", [0, 0.5, 2, 10])
def test_moves_stay_within_the_budget(budget: float) -> None:
    """dfrs F61: the best of all placements that are within the budget."""
    jobs = instance(2, (0, [0.1], [0.9]), (0, [0.1], [0.6]), (0, [0.1], [0.3]), (0, [0.1], [0.9]))
    current = np.array([0, 1, 0, 1])
    found = adaptation(jobs, current, np.array([2.0, 2.0, 0.5, 2.0]), budget)
    assert found is not None
    best = _best_of_moves(jobs, current, np.array([2.0, 2.0, 0.5, 2.0]), budget)
    assert found.least == pytest.approx(best, abs=1e-5)


def _best_of_moves(jobs: Instance, current: Integers, costs: Floats, budget: float) -> float:
    found = []
    for nodes in product(range(jobs.nodes), repeat=jobs.jobs):
        placement = place(jobs, np.array(nodes))
        if placement is not None and costs[(np.array(nodes) != current)].sum() <= budget:
            found.append(placement.least)
    return max(found)


def test_new_jobs_go_anywhere() -> None:
    """dfrs F61: the job that is there may not move, so the new one goes to the other node."""
    jobs = instance(2, (0, [0.1], [0.9]), (0, [0.1], [0.9]))
    found = adaptation(jobs, np.array([1, -1]), np.array([1.0, 1.0]), 0)
    assert found is not None and found.nodes.tolist() == [1, 0] and found.least == 1


def test_an_invalid_placement_needs_a_budget() -> None:
    """dfrs F61: memory of both jobs is too much for their node."""
    jobs = instance(2, (0, [0.6], [0.1]), (0, [0.6], [0.1]))
    assert adaptation(jobs, np.array([0, 0]), np.ones(2), 0) is None
    found = adaptation(jobs, np.array([0, 0]), np.ones(2), 1)
    assert found is not None and sorted(found.nodes) == [0, 1]
