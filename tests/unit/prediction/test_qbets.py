from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.prediction.qbets import Downtime, Qbets, cluster_limits


def test_short_and_long_values_are_different_clusters() -> None:
    """Prediction A9: values that change their scale at a requested time of 100."""
    random = np.random.default_rng(1)
    variables = random.integers(1, 200, 600)
    values = random.exponential(1, 600) * np.where(variables <= 100, 10, 1000)
    (limit, *_) = limits = cluster_limits(variables.tolist(), values.tolist(), most=2)
    assert len(limits) == 1
    assert limit == pytest.approx(100, abs=3)


def test_values_of_one_kind_are_one_cluster() -> None:
    values = np.random.default_rng(2).exponential(5, 500).tolist()
    assert cluster_limits(list(range(500)), values) == ()
    assert cluster_limits([1.0] * 500, values) == ()
    assert cluster_limits([], []) == ()


def test_each_cluster_has_its_own_bound() -> None:
    predictor = Qbets()
    random = np.random.default_rng(3)
    for _ in range(1000):
        variable = int(random.integers(1, 200))
        predictor.observe(variable, float(random.exponential(1)) * (10 if variable <= 100 else 1000))
    short, long = predictor.bound(50), predictor.bound(150)
    assert predictor.limits
    assert short is not None
    assert long is not None
    assert short < 100 < 1000 < long


def test_a_small_cluster_borrows_from_its_neighbour() -> None:
    predictor = Qbets()
    for place in range(200):
        predictor.observe(1, 10 + place % 7)
    for place in range(100):
        predictor.observe(2 if place % 10 == 0 else 1, 5000 + place if place % 10 == 0 else 10 + place % 7)
    assert predictor.limits == (1.0,)
    assert predictor.bound(2) is not None


def test_a_machine_that_releases_nothing_any_more_is_down() -> None:
    """Prediction A9."""
    machine = Downtime()
    assert not machine.is_down(1_000_000)
    for now in range(0, 500 * 60, 60):
        machine.arrived()
        machine.released(now + now % 7)
    last = 499 * 60
    assert not machine.is_down(last + 50)
    assert machine.is_down(last + 500)
    machine.released(last + 500)
    assert not machine.is_down(last + 510)
    for _ in range(5):
        machine.arrived()
    assert machine.is_down(last + 511)
