"""The model of Lublin and Feitelson (contention 6.1)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.generators.lublin import Lublin, lublin_jobs

_DAY = 86_400
_SMALL = Lublin(medium=2.5, high=5.0)


def test_sizes_on_32_nodes_have_the_published_mean() -> None:
    """contention 6.1: a mean of 4 nodes; a quarter of the jobs is serial, and most others are powers of two."""
    nodes = _SMALL.nodes(50_000, 1)
    assert nodes.min() == 1 and nodes.max() == 32
    assert nodes.mean() == pytest.approx(4.0, rel=0.05)
    assert (nodes == 1).mean() == pytest.approx(0.244, abs=0.01)
    assert np.isin(nodes, [1, 2, 4, 8, 16, 32]).mean() > 0.82


def test_runtimes_have_the_published_mean() -> None:
    """contention 6.1: a mean of 1.05 h; large jobs run longer."""
    nodes = _SMALL.nodes(50_000, 1)
    runtimes = _SMALL.runtimes(nodes, 1)
    assert runtimes.mean() / 3_600 == pytest.approx(1.05, rel=0.05)
    assert runtimes.max() <= np.exp(12)
    assert runtimes[nodes >= 16].mean() > runtimes[nodes == 1].mean()


def test_jobs_of_two_weeks_follow_the_hours_of_the_day() -> None:
    """contention 6.1: as many as asked for, with the mean runtime, and more by day than by night."""
    jobs = lublin_jobs(_SMALL, 3_000, 14 * _DAY, 7_200, 2, longest_runtime=36_000)
    assert len(jobs.arrival) == 3_000
    assert (np.diff(jobs.arrival) >= 0).all()
    assert 13 * _DAY < jobs.arrival[-1] < 14 * _DAY
    assert jobs.runtime.mean() == pytest.approx(7_200, abs=1)
    assert jobs.runtime.max() == 36_000
    hours = np.bincount(jobs.arrival // 3_600 % 24, minlength=24)
    assert hours.max() > 5 * hours.min()


def test_a_seed_determines_the_jobs() -> None:
    first, again, other = (lublin_jobs(_SMALL, 100, _DAY, 600, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(getattr(first, name), getattr(again, name)) for name in ("arrival", "nodes", "runtime"))
    assert not np.array_equal(first.runtime, other.runtime)


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"medium": 8.0}, "medium"), ({"low": 5.0}, "medium"), ({"serial": 1.5}, "serial"), ({"powers": -0.1}, "powers")],
)
def test_laws_out_of_range_are_refused(changes: dict[str, float], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}:"):
        Lublin(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "span", "mean", "field"), [(0, 10, 5, "count"), (20, 10, 5, "span"), (5, 10, 0, "mean_runtime")]
)
def test_parameters_out_of_range_are_refused(count: int, span: int, mean: float, field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}:"):
        lublin_jobs(_SMALL, count, span, mean, 1)
