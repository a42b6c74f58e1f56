from __future__ import annotations

import pytest

from lease_scheduler.fractional.packing.search import LEGACY_PACKERS, PACKERS, best_packing
from tests.unit.fractional.instances import instance


def test_the_names_are_those_of_the_dissertation() -> None:
    """dfrs F19 to F24."""
    assert set(PACKERS) == {
        *(f"{family}{sort}" for family in ("FF", "BF") for sort in ("SUM", "MAX", "LEX")),
        *(f"{family}{sort}" for family in ("PP", "CP") for sort in ("SUM", "MAX", "DIFF", "RATIO")),
    }
    assert len(LEGACY_PACKERS) == 4


@pytest.mark.parametrize("name", sorted({**PACKERS, **LEGACY_PACKERS}))
def test_the_search_finds_the_highest_yield(name: str) -> None:
    """dfrs F19: of three jobs of 0.8, two share a node, so all can have 0.625; the bound is 0.83."""
    jobs = instance(2, *[(0, [0.1], [0.8])] * 3)
    found = best_packing(jobs, {**PACKERS, **LEGACY_PACKERS}[name])
    assert found is not None and found.target is not None
    assert found.target == pytest.approx(0.625, abs=0.001)
    assert found.target <= found.least == pytest.approx(0.625)


def test_a_very_low_yield_is_tried_too() -> None:
    """dfrs A9: the bound is below the width of the search."""
    jobs = instance(1, (1, [0.1], [0.9995]), (0, [0.1], [1.0]))
    found = best_packing(jobs, PACKERS["CPSUM"])
    assert found is not None and found.least == pytest.approx(0.0005)


def test_jobs_that_do_not_fit_have_no_packing() -> None:
    """dfrs F19: three jobs that need more than half of a node each."""
    assert best_packing(instance(2, *[(0, [0.6], [0.1])] * 3), PACKERS["CPSUM"]) is None
    assert best_packing(instance(3, (0, [0.9], [0.1]), *[(0, [0.6], [0.1])] * 3), PACKERS["CPSUM"]) is None
