from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.linear.programs import highest_average
from lease_scheduler.fractional.problem import Instance, Placement, place
from lease_scheduler.fractional.shares import raise_average, utilisation
from tests.unit.fractional.instances import instance


def _on_one_node(jobs: Instance) -> Placement:
    found = place(jobs, np.zeros(jobs.jobs, np.int64))
    assert found is not None
    return found


def test_the_rest_goes_to_the_smallest_needs() -> None:
    """dfrs F27: the least yield is 1 / 1.6; nothing is left on the first node, and the job on the second has all."""
    jobs = instance(2, (0, [0.1], [0.8]), (0, [0.1], [0.8]), (0, [0.1], [0.4]))
    found = place(jobs, np.array([0, 0, 1]))
    assert found is not None
    assert raise_average(jobs, found) == pytest.approx([0.625, 0.625, 1])
    assert utilisation(jobs, found, raise_average(jobs, found)) == pytest.approx((1 + 0.4) / 2)


def test_the_best_gain_is_taken_first() -> None:
    """dfrs F27: with yields of 0.2 at least, 0.7 is left, which raises the smaller job to 1 and the larger to 0.8."""
    jobs = instance(1, (0, [0.1], [0.5]), (0, [0.1], [1.0]))
    assert raise_average(jobs, Placement(np.array([0, 0]), 0.2)) == pytest.approx([1, 0.5])


def test_the_gain_is_not_the_best_one_with_two_fluid_dimensions() -> None:
    """dfrs A14: the dissertation calls it optimal in general. Taking A first gives 2.14 in all, B and C first 2.5."""
    jobs = instance(1, (0, [0.1], [0.6, 0.6]), (0, [0.1], [0.7, 0.0]), (0, [0.1], [0.0, 0.7]))
    empty = Placement(np.zeros(3, np.int64), 0.0)
    assert raise_average(jobs, empty).sum() == pytest.approx(1 + 2 * 0.4 / 0.7)
    assert highest_average(jobs, empty).sum() == pytest.approx(2.5)


def test_jobs_at_full_speed_stay_there() -> None:
    """dfrs F27: a minimum of 1 leaves nothing to scale."""
    jobs = instance(1, (1, [0.1], [0.5]), (0, [0.1], [0.8]))
    found = _on_one_node(jobs)
    assert found.least == pytest.approx(0.625)
    assert utilisation(jobs, found, raise_average(jobs, found)) == pytest.approx(1)


def test_components_of_one_job_have_one_yield() -> None:
    """dfrs F30, F31: the second component needs twice what the first one needs, on another node."""
    jobs = instance(2, (0, [0.1], [0.4]), (0, [0.1], [0.8]), (0, [0.1], [0.6]))
    found = place(jobs, np.array([0, 1, 1]))
    assert found is not None and found.least == pytest.approx(1 / 1.4)
    scaled = highest_average(jobs, Placement(found.nodes, 0.2), np.array([0, 0, 1]))
    assert scaled[0] == scaled[1]
    assert 0.8 * scaled[1] + 0.6 * scaled[2] == pytest.approx(1)
    assert scaled[2] == pytest.approx(1), "the smaller need gains more for the same CPU"
