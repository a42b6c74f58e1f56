from __future__ import annotations

from dataclasses import asdict
from itertools import product

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.generators.instances import InstanceLaw


def test_slack_is_what_fixed_requirements_leave_free() -> None:
    """dfrs F34: values have three decimals."""
    drawn = InstanceLaw(64, 200, 6, 0.25, 0.0, 0.3).draw(1)
    assert drawn.fixed.sum(axis=0) == pytest.approx([0.7 * 64] * 3, abs=0.1)
    assert drawn.fluid.mean() == pytest.approx(0.5, abs=0.03)
    assert (drawn.minimum == 0).all()


def test_values_are_within_their_bounds() -> None:
    """dfrs F34: redrawn, not clipped, so nothing piles up at the bounds."""
    drawn = InstanceLaw(64, 500, 2, 1.0, 0.5, 0.9).draw(2)
    assert drawn.fluid.min() >= 0.01 and drawn.fluid.max() <= 1
    assert (drawn.fluid == 1).mean() < 0.02
    assert set(np.unique(drawn.minimum)) == {0, 0.5}
    assert drawn.minimum.mean() == pytest.approx(0.25, abs=0.05)


def test_500_jobs_need_four_times_the_cpu_of_64_nodes() -> None:
    """dfrs F34: fluid needs are not scaled; 500 jobs need about 3.9 times what 64 nodes have."""
    drawn = InstanceLaw(64, 500, 2, 0.5, 0.0, 0.5).draw(3)
    assert drawn.fluid.sum() / 64 == pytest.approx(3.9, abs=0.2)


def test_the_seed_determines_the_instance() -> None:
    law = InstanceLaw(4, 8, 2, 0.5, 0.25, 0.5)
    assert np.array_equal(law.draw(1).fluid, law.draw(1).fluid)
    assert not np.array_equal(law.draw(1).fluid, law.draw(2).fluid)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodes", 0),
        ("jobs", 0),
        ("dimensions", 3),
        ("dimensions", 0),
        ("sigma", 0.0),
        ("guaranteed", 1.5),
        ("slack", 1.0),
        ("slack", -0.1),
    ],
)
def test_bad_laws_name_the_field(field: str, value: float) -> None:
    good = asdict(InstanceLaw(4, 8, 2, 0.5, 0.25, 0.5))
    with pytest.raises(InvalidValueError, match=f"^{field}: must "):
        InstanceLaw(**{**good, field: value})


def test_the_scenarios_of_the_dissertation_can_be_drawn() -> None:
    """dfrs E1."""
    for jobs, dimensions, sigma, guaranteed in product((100, 200, 500), (2, 4, 6), (0.25, 1.0), (0, 0.5)):
        drawn = InstanceLaw(64, jobs, dimensions, sigma, guaranteed, 0.5).draw(0)
        assert (drawn.jobs, drawn.fixed.shape[1], drawn.fluid.shape[1]) == (jobs, dimensions // 2, dimensions // 2)
