"""The extent to which the experiments of a paper are run."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


class Extent(Enum):
    """How much of the experiments is run: a first look, everything once, or with repetitions.

    :cvar QUICK: the main tables, with the first seed
    :cvar ONCE: everything, with the first seed only, as in the dissertation
    :cvar REPEATED: everything, with all seeds for figures that are checked by their mean
    """

    QUICK = "quick"
    ONCE = "once"
    REPEATED = "repeated"

    @property
    def is_whole(self) -> bool:
        """Whether the long experiments are run too: all sets, all figures."""
        return self is not Extent.QUICK

    def seeds(self, seeds: Sequence[int]) -> Sequence[int]:
        """Return those of an experiment's seeds that are run."""
        return seeds if self is Extent.REPEATED else seeds[:1]
