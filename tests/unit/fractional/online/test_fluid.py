"""Fair shares of what hosts have left."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lease_scheduler.fractional.online.decisions import Jobs
from lease_scheduler.fractional.online.fluid import average_scaled_yields, fair_scaled_yields
from lease_scheduler.fractional.online.sharing import average_yields, fair_yields


def _yields(free: list[float], tasks: list[tuple[int, int, float]], count: int) -> list[float]:
    """Return yields of jobs with tasks (job, host, need)."""
    jobs, hosts, needs = (np.array(column) for column in zip(*tasks, strict=True))
    found = fair_scaled_yields(np.array(free), hosts, jobs, needs.astype(float), count)
    return [round(value, 6) for value in found.tolist()]


def test_what_one_job_cannot_use_goes_to_the_others_on_its_hosts() -> None:
    """Job 0 is on two hosts, and bounded by the full one; job 2 gets what it leaves on the other."""
    assert _yields([1, 1], [(0, 0, 1), (1, 0, 1), (0, 1, 1), (2, 1, 0.8)], 3) == [0.5, 0.5, 0.625]


def test_yields_follow_from_what_each_host_has_left() -> None:
    """A host with 8 left for 16 gives one half; that with 30 left for 20 gives all."""
    assert _yields([8, 30], [(0, 0, 12), (1, 0, 4), (2, 1, 20)], 3) == [0.5, 0.5, 1]


def test_without_capacity_yields_are_0_and_without_needs_1() -> None:
    assert _yields([0, -3], [(0, 0, 5), (1, 1, 5), (2, 0, 0)], 3) == [0, 0, 1]
    nobody = np.empty(0, np.int64)
    assert fair_scaled_yields(np.ones(2), nobody, nobody, np.empty(0), 0).tolist() == []


@pytest.mark.parametrize("seed", range(20))
def test_equal_hosts_give_the_yields_of_the_study(seed: int) -> None:
    """The same as ``fair_yields``, where jobs hold nothing and hosts are equal; the same average with OPT=AVG."""
    random = np.random.default_rng(seed)
    count, nodes = 12, 5
    widths = random.integers(1, 4, count)
    cpu = random.integers(1, 101, count) / 100
    first = np.concatenate([[0], np.cumsum(widths)])
    place = np.concatenate([np.sort(random.integers(0, nodes, width)) for width in widths])
    jobs = np.repeat(np.arange(count), widths)
    known = fair_yields(np.arange(count), Jobs(cpu, np.zeros(count), first), place, nodes)
    found = fair_scaled_yields(np.ones(nodes), place, jobs, cpu[jobs], count)
    assert_allclose(found, known, rtol=1e-7)
    known = average_yields(np.arange(count), Jobs(cpu, np.zeros(count), first), place, nodes, None)
    found = average_scaled_yields(np.ones(nodes), place, jobs, cpu[jobs], count)
    assert found.sum() == pytest.approx(known.sum(), rel=1e-6)
    assert found.min() >= known.min() * (1 - 1e-6)
    assert (np.bincount(place, weights=(cpu * found)[jobs], minlength=nodes) <= 1 + 1e-6).all()


def test_the_average_is_highest_where_little_is_needed() -> None:
    """dfrs A22: all get 1/2 first; what job 2 leaves on host 1 goes to job 1, which costs job 0 nothing."""
    hosts, jobs, needs = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), np.array([1.0, 0.2, 0.2, 0.8])
    found = average_scaled_yields(np.array([0.6, 1.0]), hosts, jobs, needs, 3)
    assert_allclose(found, [0.5, 0.5, 1.0], rtol=1e-6)
    assert average_scaled_yields(np.ones(2), hosts[2:], jobs[2:], needs[2:], 3).tolist() == [1, 1, 1]
