from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.fractional.stretch_bound import stretch_bound
from lease_scheduler.model.errors import InvalidValueError


def test_a_job_alone_has_a_stretch_of_one() -> None:
    """dfrs F37."""
    assert stretch_bound(4, np.array([5.0]), np.array([100.0]), np.array([4.0])) == 1


def test_of_two_equal_jobs_one_has_a_stretch_of_two() -> None:
    """dfrs F37: one of two equal jobs has to end at twice its time."""
    found = stretch_bound(1, np.zeros(2), np.full(2, 100.0), np.ones(2), precision=1e-4)
    assert found == pytest.approx(2, rel=2e-4) and found <= 2


def test_short_jobs_are_measured_by_ten_seconds() -> None:
    """dfrs F36, A30: ten jobs of one second are done in ten."""
    assert stretch_bound(1, np.zeros(10), np.ones(10), np.ones(10)) == 1
    assert stretch_bound(1, np.zeros(10), np.ones(10), np.ones(10), shortest=0, precision=1e-4) == pytest.approx(
        10, rel=1e-3
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_that_of_the_linear_system(seed: int) -> None:
    """dfrs F37: (5.1) to (5.5), solved by HiGHS."""
    random = np.random.default_rng(seed)
    release, processing = random.uniform(0, 100, 15), random.uniform(10, 100, 15)
    width = random.uniform(0.25, 3, 15)
    found = stretch_bound(3, release, processing, width, precision=1e-3)
    assert not _is_feasible(3, release, processing, width, found * 0.999)
    assert _is_feasible(3, release, processing, width, found * 1.002)


def _is_feasible(nodes: int, release: Floats, processing: Floats, width: Floats, stretch: float) -> bool:
    deadline = release + stretch * processing
    instants = np.unique(np.concatenate([release, deadline]))
    lengths, jobs = np.diff(instants), len(release)
    open_ = (instants[:-1] >= release[:, None] - 1e-9) & (instants[1:] <= deadline[:, None] + 1e-9)
    upper = np.where(open_, np.minimum(1, lengths / processing[:, None]), 0)
    each = np.kron(np.eye(jobs), np.ones(len(lengths)))
    capacity = np.hstack([np.diag((processing[job] * width[job]) / (nodes * lengths)) for job in range(jobs)])
    solved = linprog(
        np.zeros(jobs * len(lengths)),
        A_ub=capacity,
        b_ub=np.ones(len(lengths)),
        A_eq=each,
        b_eq=np.ones(jobs),
        bounds=np.column_stack([np.zeros(upper.size), upper.ravel()]),
    )
    return bool(solved.status == 0)


def test_no_schedule_of_a_thousand_jobs_is_below_the_bound() -> None:
    """dfrs A25: no schedule is below the bound, such as one job after the other."""
    random = np.random.default_rng(7)
    release = np.sort(random.uniform(0, 500_000, 1000))
    processing, width = random.exponential(2000, 1000) + 1, random.integers(1, 65, 1000).astype(float)
    bound = stretch_bound(64, release, processing, width)
    now, largest = 0.0, 1.0
    for begin, length in zip(release, processing, strict=True):
        now = max(now, begin) + length
        largest = max(largest, (now - begin) / max(10, length))
    assert 1 < bound <= largest


@pytest.mark.parametrize(
    ("field", "processing", "width"), [("width", 1.0, 5.0), ("width", 1.0, 0.0), ("processing", 0.0, 1.0)]
)
def test_bad_jobs_name_the_field(field: str, processing: float, width: float) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}: must "):
        stretch_bound(4, np.zeros(1), np.array([processing]), np.array([width]))


def test_without_jobs_the_bound_is_one() -> None:
    assert stretch_bound(1, np.empty(0), np.empty(0), np.empty(0)) == 1
