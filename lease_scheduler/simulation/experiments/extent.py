"""How much of a dissertation's experiments is run."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


class Extent(Enum):
    """How much of the experiments is run: a first look, everything once, or with repetitions.

    :cvar QUICK: the main tables, with the first seed
    :cvar ONCE: everything, with the first seed alone, as the dissertation did
    :cvar REPEATED: everything, and what is judged by its mean with all seeds
    """

    QUICK = "quick"
    ONCE = "once"
    REPEATED = "repeated"

    @property
    def is_whole(self) -> bool:
        """Whether what takes long is run too: all sets, all figures."""
        return self is not Extent.QUICK

    def seeds(self, seeds: Sequence[int]) -> Sequence[int]:
        """Those of an experiment's seeds that are run."""
        return seeds if self is Extent.REPEATED else seeds[:1]
