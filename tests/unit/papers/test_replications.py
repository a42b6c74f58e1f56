"""Which seeds an experiment is run with, and what each of them runs."""

from __future__ import annotations

import pytest

from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import DefaultSeeds, Replication, block, replications

_QUICK, _ONCE, _REPEATED = Extent.QUICK, Extent.ONCE, Extent.REPEATED


@pytest.mark.parametrize(
    ("default", "extent", "seed", "number", "expected"),
    [
        (DefaultSeeds(1), _REPEATED, 1, None, [(_REPEATED, 1)]),
        (DefaultSeeds(3), _REPEATED, 1, None, [(_REPEATED, 1), (_REPEATED, 2), (_REPEATED, 3)]),
        (DefaultSeeds(3, whole=False), _REPEATED, 4, None, [(_REPEATED, 4), (_QUICK, 5), (_QUICK, 6)]),
        (DefaultSeeds(3), _ONCE, 1, None, [(_ONCE, 1)]),
        (DefaultSeeds(3), _QUICK, 9, None, [(_QUICK, 9)]),
        (DefaultSeeds(5, whole=False), _REPEATED, 1, 2, [(_REPEATED, 1), (_REPEATED, 2)]),
        (DefaultSeeds(1), _QUICK, 4, 3, [(_QUICK, 4), (_QUICK, 5), (_QUICK, 6)]),
    ],
)
def test_seeds_are_consecutive(
    default: DefaultSeeds, extent: Extent, seed: int, number: int | None, expected: list[tuple[Extent, int]]
) -> None:
    """Only a chapter's own number may leave out the long experiments of further seeds."""
    assert replications(default, extent, seed, number) == tuple(Replication(*each) for each in expected)


def test_each_seed_stands_for_a_block_of_numbers() -> None:
    assert [list(block(seed, 3)) for seed in (1, 2, 3)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
