from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.packing.chekuri import pack_by_program


@pytest.mark.parametrize("seed", range(4))
def test_no_bin_is_overloaded(seed: int) -> None:
    """dfrs F26."""
    vectors = np.random.default_rng(seed).uniform(0.05, 0.6, (12, 2))
    found = pack_by_program(vectors, 12)
    assert found is not None
    for place in range(12):
        assert (vectors[found == place].sum(axis=0) <= 1 + 1e-9).all()


def test_vectors_that_are_divided_share_bins() -> None:
    """dfrs F26: 0.6, 0.6 and 0.6 need two bins in parts, and three as a whole."""
    vectors = np.array([[0.6, 0.1], [0.6, 0.1], [0.6, 0.1]])
    assert pack_by_program(vectors, 2) is None
    found = pack_by_program(vectors, 3)
    assert found is not None and len(set(found.tolist())) == 3


def test_vectors_that_are_too_large_or_too_many_are_not_packed() -> None:
    assert pack_by_program(np.array([[1.1, 0.1]]), 5) is None
    assert pack_by_program(np.array([[0.9, 0.1]] * 3), 2) is None


def test_no_vectors_need_no_bins() -> None:
    found = pack_by_program(np.empty((0, 2)), 1)
    assert found is not None and len(found) == 0
