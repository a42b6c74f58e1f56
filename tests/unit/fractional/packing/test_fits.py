from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.packing.fits import FitSort, pack_by_fit

_VECTORS = np.array([[0.3, 0.3], [0.7, 0.1], [0.2, 0.7], [0.6, 0.5]])


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        # In the order 3, 2, 1, 0: the largest sum first.
        (FitSort.SUM, [0, 1, 1, 0]),
        # In the order 1, 2, 3, 0.
        (FitSort.MAX, [1, 0, 0, 1]),
        # In the order 1, 3, 0, 2: the second coordinate of 3 and 0 together leave too little for 2.
        (FitSort.LEX, [0, 0, 2, 1]),
    ],
)
def test_first_fit_takes_the_first_bin_with_capacity(sort: FitSort, expected: list[int]) -> None:
    """dfrs F20."""
    found = pack_by_fit(_VECTORS, 3, sort, best=False)
    assert found is not None and found.tolist() == expected


def test_best_fit_takes_the_fullest_bin() -> None:
    """dfrs F21: by the largest coordinate, a bin with a smaller sum is opened first."""
    vectors = np.array([[0.8, 0.0], [0.7, 0.6], [0.2, 0.2]])
    first = pack_by_fit(vectors, 2, FitSort.MAX, best=False)
    best = pack_by_fit(vectors, 2, FitSort.MAX, best=True)
    assert first is not None and first.tolist() == [0, 1, 0]
    assert best is not None and best.tolist() == [0, 1, 1]


@pytest.mark.parametrize("best", [False, True])
def test_with_too_few_bins_nothing_is_packed(*, best: bool) -> None:
    assert pack_by_fit(_VECTORS, 1, FitSort.SUM, best=best) is None


def test_a_full_bin_is_full_up_to_rounding() -> None:
    """dfrs A9: the capacity test allows for rounding errors only."""
    tenths = np.full((10, 2), 0.1)
    assert pack_by_fit(tenths, 1, FitSort.SUM, best=False) is not None
    assert pack_by_fit(tenths + 1e-8, 1, FitSort.SUM, best=False) is None
