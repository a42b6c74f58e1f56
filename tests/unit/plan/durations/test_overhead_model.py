"""The formulas of overheads (contention 4.1 and 9.1)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.plan.durations.overhead_model import OverheadModel, OverheadRates


@pytest.mark.parametrize(
    ("nodes", "to_suspend", "to_resume", "suspending", "migrating"),
    [
        (1, 163.305, 126.105, 289.41, 449.61),
        (2, 324.31, 252.21, 576.52, 770.82),
        (4, 646.32, 504.42, 1150.74, 1413.24),
        (8, 1290.34, 1008.84, 2299.18, 2698.08),
    ],
)
def test_times_equal_those_of_the_dissertation(
    nodes: int, to_suspend: float, to_resume: float, suspending: float, migrating: float
) -> None:
    """contention 9.1: with the rounded times 161.0, 126.1 and 160.2 s for 1,024 MB, as the dissertation uses them."""
    model = OverheadModel(OverheadRates(1024 / 161.0, 1024 / 126.1, 1024 / 160.2))
    memory = [1024] * nodes
    assert model.to_suspend(memory) == pytest.approx(to_suspend)
    assert model.to_resume(memory) == pytest.approx(to_resume)
    assert model.of_suspending(memory) == pytest.approx(suspending)
    assert model.of_migrating(memory) == pytest.approx(migrating)


def test_default_rates_give_the_times_of_the_dissertation() -> None:
    """contention 9.1: the rates themselves are rounded; that makes less than 0.02 s for each node."""
    model = OverheadModel()
    for nodes, suspending, migrating in ((1, 289.41, 449.61), (8, 2299.18, 2698.08)):
        assert model.of_suspending([1024] * nodes) == pytest.approx(suspending, abs=0.02 * nodes)
        assert model.of_migrating([1024] * nodes) == pytest.approx(migrating, abs=0.02 * nodes)


def test_nodes_of_different_sizes_overlap_by_the_longer_time() -> None:
    """contention P1: the sum begins with the second node."""
    model = OverheadModel(OverheadRates(1, 1, 1, pause_time=0, reschedule_time=0))
    # Copies 30 + 10, first suspension 30, then the longer of suspending 10 and resuming 30, last resumption 10.
    assert model.of_migrating([30, 10]) == 40 + 30 + 30 + 10


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["suspend_rate", "resume_rate", "copy_rate"])
def test_rates_must_be_positive(name: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=f"{name}: must be more than 0"):
        OverheadRates(**{name: value})


@pytest.mark.parametrize("name", ["pause_time", "reschedule_time"])
def test_times_must_not_be_negative(name: str) -> None:
    with pytest.raises(InvalidValueError, match=f"{name}: must be at least 0"):
        OverheadRates(**{name: -0.1})
