from __future__ import annotations

import math

import numpy as np
import pytest

from lease_scheduler.fractional.stretch_bound import stretch_bound
from lease_scheduler.fractional.theory import equipartition, hardest_for_equipartition, online_limit
from lease_scheduler.model.errors import InvalidValueError


def test_jobs_share_the_node_equally() -> None:
    """dfrs F38: two jobs share from 0 to 4; the first has 3 left then, shares with a third, and ends at 8."""
    ends = equipartition(np.array([0.0, 0.0, 4.0]), np.array([4.0, 2.0, 10.0]))
    assert ends == pytest.approx([8, 4, 16])


def test_a_pause_without_jobs_is_idle() -> None:
    assert equipartition(np.array([0.0, 10.0]), np.array([1.0, 1.0])) == pytest.approx([1, 11])


@pytest.mark.parametrize("jobs", [3, 10, 100])
def test_in_the_worst_case_the_stretch_is_the_number_of_jobs(jobs: int) -> None:
    """dfrs F38, A26: all jobs end together, the last one with a stretch of n; 1 + H(n - 1) is possible."""
    release, processing = hardest_for_equipartition(jobs)
    ends = equipartition(release, processing)
    assert ends == pytest.approx(np.full(jobs, release[-1] + jobs))
    assert ((ends - release) / processing).max() == pytest.approx(jobs)
    harmonic = sum(1 / number for number in range(1, jobs))
    one_by_one = np.concatenate([[(release + processing).max() + processing[0]], (release + processing)[1:]])
    assert ((one_by_one - release) / processing).max() == pytest.approx(1 + harmonic)
    bound = stretch_bound(1, release, processing, np.ones(jobs), shortest=0)
    assert bound <= 1 + harmonic


def test_the_ratio_of_a_hundred_jobs_is_the_published_one() -> None:
    """dfrs A26: 16.19 for n = 100, at least (Delta + 1) / (2 + ln Delta) = 15.16."""
    ratio = 100 / (1 + sum(1 / number for number in range(1, 100)))
    assert ratio == pytest.approx(16.19, abs=0.01)
    _, processing = hardest_for_equipartition(100)
    delta = processing.max() / processing.min()
    assert delta == pytest.approx(99)
    assert (delta + 1) / (2 + math.log(delta)) == pytest.approx(15.16, abs=0.01)


def test_the_limit_of_all_algorithms_is_the_published_one() -> None:
    """dfrs F38: theorem 2."""
    assert online_limit(100) == pytest.approx(3.37, abs=0.01)


def test_too_few_jobs_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="^jobs: must be at least 3"):
        hardest_for_equipartition(2)
