from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.genetic import GeneticOptions, evolve
from lease_scheduler.fractional.linear.programs import optimum
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.generators.instances import InstanceLaw
from tests.unit.fractional.instances import instance

_SHORT = GeneticOptions(population=21, generations=60)


@pytest.mark.parametrize("seed", range(3))
def test_placements_of_small_instances_are_near_the_optimum(seed: int) -> None:
    """dfrs F18."""
    jobs = InstanceLaw(3, 6, 4, 0.5, 0.25, 0.5).draw(seed)
    best = optimum(jobs)
    found = evolve(jobs, np.random.default_rng(seed), _SHORT)
    assert best is not None and found is not None
    assert 0.8 * best.least <= found.least <= best.least + 1e-5


def test_more_generations_are_not_worse() -> None:
    """dfrs F18: the best chromosome of all generations is kept."""
    jobs = InstanceLaw(8, 20, 4, 0.5, 0.0, 0.5).draw(1)
    least = [
        found.least
        for generations in (0, 20, 200)
        if (found := evolve(jobs, np.random.default_rng(1), GeneticOptions(20, generations))) is not None
    ]
    assert len(least) == 3 and least == sorted(least) and least[2] > least[0]


def test_repair_moves_the_smallest_job_that_cures() -> None:
    """dfrs F18: one way to put these jobs on two nodes, which random chromosomes hardly have."""
    jobs = instance(2, (0, [0.7], [0.1]), (0, [0.6], [0.1]), (0, [0.4], [0.1]), (0, [0.3], [0.1]))
    found = evolve(jobs, np.random.default_rng(0), GeneticOptions(2, 0))
    assert found is not None
    assert found.nodes[0] == found.nodes[3] != found.nodes[1] == found.nodes[2]


def test_jobs_that_do_not_fit_have_no_placement() -> None:
    assert evolve(instance(1, *[(0, [0.6], [0.1])] * 2), np.random.default_rng(0), _SHORT) is None


@pytest.mark.parametrize(
    ("field", "value"), [("population", 1), ("generations", -1), ("mutation", 1.1), ("crossover", -0.1)]
)
def test_bad_options_name_the_field(field: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}: must "):
        GeneticOptions(**{field: value})  # type: ignore[arg-type]
