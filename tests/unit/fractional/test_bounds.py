from __future__ import annotations

import pytest

from lease_scheduler.fractional.bounds import yield_bound
from lease_scheduler.fractional.linear.programs import relaxation
from lease_scheduler.simulation.generators.instances import InstanceLaw
from tests.unit.fractional.instances import instance


def test_all_nodes_count_as_one() -> None:
    """dfrs F7: three jobs of 0.8 on two nodes cannot have more than 2 / 2.4, though one node must hold two of them."""
    assert yield_bound(instance(2, *[(0, [0.1], [0.8])] * 3)) == pytest.approx(2 / 2.4)


def test_minima_are_given_first() -> None:
    """dfrs F7: (2 - 1.2) / 1.2."""
    assert yield_bound(instance(2, *[(0.5, [0.1], [0.8])] * 3)) == pytest.approx(0.8 / 1.2)


def test_there_is_no_bound_if_memory_or_minima_do_not_fit() -> None:
    """dfrs F7."""
    assert yield_bound(instance(1, *[(0, [0.6], [0.1])] * 2)) is None
    assert yield_bound(instance(1, *[(0.6, [0.1], [1.0])] * 2)) is None


def test_a_dimension_without_needs_bounds_nothing() -> None:
    """dfrs F7: the set NZ."""
    assert yield_bound(instance(1, (0, [0.5], [0.0]), (1, [0.5], [1.0]))) == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_the_optimum_of_the_relaxation(seed: int) -> None:
    """dfrs F7, F8."""
    drawn = InstanceLaw(4, 12, 4, 0.5, 0.25, 0.3).draw(seed)
    bound, relaxed = yield_bound(drawn), relaxation(drawn)
    assert (bound is None) == (relaxed is None)
    if relaxed is not None:
        assert relaxed.least == pytest.approx(bound, abs=1e-5)
