from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.problem import Instance, loads, place
from lease_scheduler.model.errors import InvalidValueError
from tests.unit.fractional.instances import instance


def test_the_worked_example_has_a_yield_of_two_thirds() -> None:
    """dfrs S1 (a): three jobs of CPU 25, 50 and 75 % on one node can have two thirds of what they need."""
    jobs = instance(1, (0, [0.37], [0.25]), (0, [0.40], [0.50]), (0, [0.20], [0.75]))
    found = place(jobs, np.zeros(3, np.int64))
    assert found is not None and found.least == pytest.approx(2 / 3)
    assert loads(jobs.fixed, found.nodes, 1)[0, 0] == pytest.approx(0.97)


def test_a_minimum_yield_is_a_constrained_need() -> None:
    """dfrs F3, S1 (b)."""
    assert instance(1, (0.4, [0.1], [0.6])).constrained == pytest.approx(0.24)


def test_scaled_yields_are_counted_from_the_minimum() -> None:
    """dfrs F3, S1 (c): yields of 0.8 and 0.85 are both 0.75 of what lies above the minima 0.2 and 0.4."""
    vectors = instance(1, (0.2, [0.1], [1.0]), (0.4, [0.1], [1.0])).vectors(0.75)
    assert vectors[:, 1] == pytest.approx([0.8, 0.85])


def test_memory_is_never_shared() -> None:
    """dfrs F1."""
    jobs = instance(2, (0, [0.6], [0.1]), (0, [0.5], [0.1]))
    assert place(jobs, np.array([0, 0])) is None
    assert place(jobs, np.array([0, 1])) is not None


def test_a_minimum_that_does_not_fit_is_infeasible() -> None:
    """dfrs A1: not a negative yield."""
    jobs = instance(1, (0.6, [0.1], [1.0]), (0.6, [0.1], [1.0]))
    assert place(jobs, np.array([0, 0])) is None


def test_jobs_that_must_run_at_full_speed_have_full_yield() -> None:
    """dfrs F3: a minimum of 1."""
    found = place(instance(1, (1, [0.1], [0.5])), np.array([0]))
    assert found is not None and found.least == 1


@pytest.mark.parametrize("needs", [[0.0], []], ids=["zero", "none"])
def test_jobs_without_fluid_needs_run_at_full_speed(needs: list[float]) -> None:
    found = place(instance(1, (0, [0.5], needs), (0, [0.5], needs)), np.array([0, 0]))
    assert found is not None and found.least == 1


def test_without_jobs_the_least_yield_is_one() -> None:
    empty = Instance(1, np.empty(0), np.empty((0, 1)), np.empty((0, 1)))
    found = place(empty, np.empty(0, np.int64))
    assert found is not None and found.least == 1


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("nodes", {"nodes": 0}),
        ("minimum", {"minimum": np.array([1.5])}),
        ("fixed", {"fixed": np.array([[1.1]])}),
        ("fixed", {"fixed": np.array([0.1])}),
        ("fluid", {"fluid": np.array([[float("nan")]])}),
        ("fluid", {"fluid": np.array([[-0.1]])}),
        ("fluid", {"fluid": np.array([[0.1], [0.1]])}),
    ],
)
def test_bad_input_names_the_field(field: str, values: dict[str, object]) -> None:
    good = {"nodes": 1, "minimum": np.array([0.0]), "fixed": np.array([[0.5]]), "fluid": np.array([[0.5]])}
    with pytest.raises(InvalidValueError, match=f"^{field}: must "):
        Instance(**{**good, **values})  # type: ignore[arg-type]
