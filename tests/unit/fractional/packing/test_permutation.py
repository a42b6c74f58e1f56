from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.fractional.packing.fits import FitSort, pack_by_fit
from lease_scheduler.fractional.packing.permutation import Lists, ListSort, pack_by_lists
from lease_scheduler.model.errors import InvalidValueError


def _bins(vectors: Floats, bins: int, lists: Lists, sort: ListSort = ListSort.SUM) -> list[int] | None:
    found = pack_by_lists(vectors, bins, sort, lists)
    return None if found is None else found.tolist()


def test_the_next_vector_levels_the_loads() -> None:
    """dfrs F24: after the first one, a vector that needs the other two dimensions is taken, though it is smaller."""
    vectors = np.array([[0.5, 0.4, 0.0, 0.0], [0.5, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.3], [0.0, 0.1, 0.6, 0.8]])
    assert _bins(vectors, 2, Lists.CHOOSE) == [0, 0, 1, 0]
    assert _bins(vectors, 1, Lists.CHOOSE) is None


def test_permutation_pack_looks_at_which_is_larger() -> None:
    """dfrs F23: after vector 1, dimensions 2 and 1 are the least loaded, and vector 0 does not need most of them."""
    vectors = np.array([[0.50, 0.10, 0.40], [0.45, 0.40, 0.0], [0.30, 0.45, 0.0]])
    assert _bins(vectors, 2, Lists.CHOOSE) == [0, 0, 1]
    assert _bins(vectors, 2, Lists.PERMUTE) == [1, 0, 0]


def test_the_published_order_takes_the_lower_dimension_first() -> None:
    """dfrs A11: of the lists of dimensions 2 and 0, that with the larger coordinate in 0 is tried before (1, 0)."""
    vectors = np.array([[0.50, 0.10, 0.40], [0.45, 0.40, 0.0], [0.30, 0.45, 0.0]])
    assert _bins(vectors, 2, Lists.LEGACY) == [0, 0, 1]


def test_with_two_dimensions_choose_pack_is_first_fit() -> None:
    """dfrs A12: there is one list."""
    vectors = np.random.default_rng(1).uniform(0.05, 0.6, (40, 2))
    fit = pack_by_fit(vectors, 40, FitSort.SUM, best=False)
    assert fit is not None
    assert _bins(vectors, 40, Lists.CHOOSE) == fit.tolist()


@pytest.mark.parametrize("lists", list(Lists))
@pytest.mark.parametrize("sort", list(ListSort))
@pytest.mark.parametrize("dimensions", [2, 3, 6])
def test_skipped_vectors_would_not_have_fitted(lists: Lists, sort: ListSort, dimensions: int) -> None:
    """dfrs F23, F24: the same bins as the algorithm word by word, which goes through all lists for each vector."""
    for seed in range(3):
        vectors = np.random.default_rng(seed).uniform(0, 0.7, (150, dimensions)).round(2)
        bins = 150
        found = _bins(vectors, bins, lists, sort)
        assert found == _literal(vectors, bins, lists, sort)
        assert found is not None
        needed = max(found) + 1
        assert _bins(vectors, needed, lists, sort) == found
        assert _bins(vectors, needed - 1, lists, sort) is None


def test_one_dimension_has_no_lists() -> None:
    with pytest.raises(InvalidValueError, match="^vectors: must have at least 2 dimensions"):
        pack_by_lists(np.array([[0.5]]), 1, ListSort.SUM, Lists.CHOOSE)


def _literal(vectors: Floats, bins: int, lists: Lists, sort: ListSort = ListSort.SUM) -> list[int] | None:
    dimensions = vectors.shape[1]
    pools: dict[tuple[int, ...], list[int]] = {}
    for number, vector in enumerate(vectors):
        pair: tuple[int, ...] = tuple(np.argsort(-vector, kind="stable")[:2].tolist())
        pools.setdefault(tuple(sorted(pair)) if lists is Lists.CHOOSE else pair, []).append(number)
    for pool in pools.values():
        pool.sort(key=lambda number: -_key(vectors[number], sort))
    ranks = [(one, other) for one in range(dimensions) for other in range(dimensions) if one != other]
    if lists is not Lists.PERMUTE:
        ranks = sorted((pair for pair in ranks if pair[0] < pair[1]), key=lambda pair: pair[::-1])
    placed = [-1] * len(vectors)
    for place in range(bins):
        load = np.zeros(dimensions)
        while True:
            order = np.argsort(load, kind="stable").tolist()
            walk = [(order[one], order[other]) for one, other in ranks]
            if lists is Lists.CHOOSE:
                walk = [(min(pair), max(pair)) for pair in walk]
            if lists is Lists.LEGACY:
                walk = [pair for each in walk for pair in ((min(each), max(each)), (max(each), min(each)))]
            fitting = (
                (pool, number)
                for pair in walk
                for pool in [pools.get(pair, [])]
                for number in pool
                if (load + vectors[number] <= 1 + 1e-9).all()
            )
            pool, number = next(fitting, ([], -1))
            if number < 0:
                break
            pool.remove(number)
            placed[number] = place
            load += vectors[number]
    return placed if min(placed) >= 0 else None


def _key(vector: Floats, sort: ListSort) -> float:
    if sort is ListSort.SUM:
        return float(vector.sum())
    if sort is ListSort.MAX:
        return float(vector.max())
    if sort is ListSort.DIFF:
        return float(vector.max() - vector.min())
    return float(vector.max() / vector.min()) if vector.min() > 0 else float("inf")
