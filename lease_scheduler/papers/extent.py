"""The extent to which the experiments of a paper are run."""

from __future__ import annotations

from enum import Enum


class Extent(Enum):
    """How much of the experiments is run: a first look, everything, or more than the dissertation has.

    :cvar QUICK: the main tables
    :cvar ONCE: everything that the dissertation has; with one seed unless more are asked for
    :cvar REPEATED: everything; with the chapter's own number of seeds unless another number is asked for
    """

    QUICK = "quick"
    ONCE = "once"
    REPEATED = "repeated"

    @property
    def is_whole(self) -> bool:
        """Whether the long experiments are run too: all sets, all figures."""
        return self is not Extent.QUICK
