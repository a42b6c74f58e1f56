from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.fractional.trace import Trace

_GOOD = {
    "release": [0.0, 5],
    "tasks": [1, 2],
    "cpu": [1.0, 0.5],
    "memory": [0.5, 0.1],
    "processing": [10.0, 100],
}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("release", -1.0, "release[1]: must be at least 0, finite and in order"),
        ("release", np.nan, "release[1]: must be at least 0"),
        ("release", np.inf, "release[1]: must be at least 0"),
        ("tasks", 0, "tasks[1]: must be at least 1"),
        ("cpu", 0.0, "cpu[1]: must be more than 0"),
        ("cpu", 1.1, "cpu[1]: must be more than 0 and at most 1 node"),
        ("memory", 1.1, "memory[1]: must be from 0 to 1 node"),
        ("memory", np.nan, "memory[1]: must be from 0 to 1 node"),
        ("processing", 0.0, "processing[1]: must be more than 0"),
        ("processing", np.inf, "processing[1]: must be more than 0 and finite"),
        ("tasks", 5, "tasks x cpu[1]: must fit into the 2 empty nodes"),
        ("memory", 0.6, None),
    ],
)
def test_impossible_jobs_are_refused(field: str, value: float, problem: str | None) -> None:
    values = {name: np.array(column) for name, column in _GOOD.items()}
    values[field][1] = value
    if problem is None:
        Trace(2, **values)
        return
    with pytest.raises(InvalidValueError) as refused:
        Trace(2, **values)
    assert str(refused.value).startswith(problem)


def test_jobs_must_fit_into_the_memory_of_the_empty_cluster() -> None:
    values = {name: np.array(column) for name, column in _GOOD.items()}
    with pytest.raises(InvalidValueError, match=r"tasks\[1\]: must fit into the 1 empty nodes"):
        Trace(1, **(values | {"memory": np.array([0.5, 0.6])}))
    with pytest.raises(InvalidValueError, match="nodes: must be at least 1"):
        Trace(0, **values)


def test_the_stretch_is_bounded() -> None:
    """dfrs F36, A30: a job of 1 s is measured by 10 s, and no stretch is below 1."""
    trace = Trace(1, np.array([0.0, 5]), np.array([1, 1]), np.ones(2), np.full(2, 0.1), np.array([1.0, 100]))
    assert trace.stretches(np.array([40.0, 305])).tolist() == [4, 3]
    assert trace.stretches(np.array([1.0, 105])).tolist() == [1, 1]
    assert trace.bound() == 1


def test_a_trace_is_scaled_to_a_load() -> None:
    """dfrs F56: 4 nodes; 100 s x 2 tasks x 1 and 50 s x 4 tasks x 0.5 in 100 s are 0.75 of them."""
    trace = Trace(
        4, np.array([10.0, 110]), np.array([2, 4]), np.array([1, 0.5]), np.full(2, 0.1), np.array([100.0, 50])
    )
    assert trace.load == pytest.approx(0.75)
    slower = trace.scaled(0.25)
    assert slower.release.tolist() == [30, 330]
    assert slower.load == pytest.approx(0.25)
    assert slower.processing.tolist() == [100, 50]
    for load in (0, -1, np.inf, np.nan):
        with pytest.raises(InvalidValueError, match="load: must be more than 0"):
            trace.scaled(load)
    alone = Trace(1, np.zeros(1), np.ones(1, np.int64), np.ones(1), np.zeros(1), np.ones(1))
    with pytest.raises(InvalidValueError, match="load: the jobs must be submitted at two instants"):
        alone.scaled(0.5)
