from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.linear.programs import optimum
from lease_scheduler.fractional.linear.rounding import dive_fast, dive_slowly, round_randomly
from lease_scheduler.fractional.problem import Instance, Placement
from lease_scheduler.simulation.generators.instances import InstanceLaw
from tests.unit.fractional.instances import instance


def _all(jobs: Instance) -> list[Placement | None]:
    return [
        round_randomly(jobs, np.random.default_rng(1), no_zeros=False),
        round_randomly(jobs, np.random.default_rng(1), no_zeros=True),
        dive_fast(jobs),
        dive_slowly(jobs),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_placements_are_at_most_optimal(seed: int) -> None:
    """dfrs F14 to F17."""
    jobs = InstanceLaw(3, 6, 4, 0.5, 0.25, 0.5).draw(seed)
    best = optimum(jobs)
    assert best is not None
    found = [each for each in _all(jobs) if each is not None]
    assert found
    assert all(each.least <= best.least + 1e-5 for each in found)


def test_jobs_that_need_a_node_each_get_one_each() -> None:
    """dfrs F14 to F17: the only placements are those with one job on each node."""
    for found in _all(instance(3, *[(0, [0.6], [0.9])] * 3)):
        assert found is None or sorted(found.nodes) == [0, 1, 2]


def test_diving_ends_where_the_relaxation_does() -> None:
    """dfrs F16, F17: two jobs fit in halves, but not as a whole beside the third one."""
    for found in _all(instance(2, *[(0, [0.6], [0.1])] * 3)):
        assert found is None


def test_zero_shares_may_be_taken() -> None:
    """dfrs F15: with them, jobs come to nodes where the relaxation has no part of them."""
    jobs = InstanceLaw(4, 6, 2, 0.5, 0.0, 0.8).draw(1)

    def nodes(no_zeros: bool) -> set[tuple[int, ...]]:
        streams = (np.random.default_rng(seed) for seed in range(30))
        found = (round_randomly(jobs, stream, no_zeros=no_zeros) for stream in streams)
        return {tuple(each.nodes) for each in found if each is not None}

    assert len(nodes(True)) > len(nodes(False)) >= 1
