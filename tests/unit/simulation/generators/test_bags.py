"""Bags of tasks (contention 6.3)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.generators.bags import BagLaws, generate_bags

_DAY = 86_400.0


def test_bags_have_the_published_means() -> None:
    """contention 6.3: the mean gap is 0.941 of the scale, and the mean number of tasks 2.06."""
    bags = generate_bags(BagLaws(1.7, 90), _DAY, 1, "external")
    assert (np.diff(bags.arrival) > 0).all() and bags.arrival[-1] < _DAY
    assert np.diff(bags.arrival).mean() == pytest.approx(0.941 * 1.7, rel=0.01)
    assert bags.tasks.min() == 1 and bags.tasks.mean() == pytest.approx(2.06, rel=0.01)
    assert bags.task_duration.mean() == pytest.approx(90, rel=0.01)
    assert bags.task_duration.std() == pytest.approx(6.1, rel=0.02)
    assert bags.work == pytest.approx(bags.tasks * bags.task_duration)


def test_streams_are_independent_and_repeatable() -> None:
    first, again, other = (generate_bags(BagLaws(4, 90), 3_600, 1, name) for name in ("a", "a", "b"))
    assert np.array_equal(first.work, again.work)
    assert len(first.work) != len(other.work) or not np.array_equal(first.work, other.work)
    assert not len(generate_bags(BagLaws(4_000, 90, gap_shape=50), 1, 1, "none").arrival)


@pytest.mark.parametrize(
    ("laws", "field"),
    [((0, 90), "gap_scale"), ((4, -1), "task_mean"), ((4, 90, 7.86, (0, 2)), "tasks.scale")],
)
def test_laws_out_of_range_are_refused(laws: tuple[float, ...], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}:"):
        BagLaws(*laws)  # type: ignore[arg-type]
