"""Replications: the same experiment with other seeds, to tell effects from chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lease_scheduler.papers.extent import Extent
from lease_scheduler.simulation.campaigns.case import Case

FIRST_SEED = 1


@dataclass(frozen=True)
class Replication:
    """One replication of a chapter.

    :ivar extent: how much of the chapter is run
    :ivar seed: seed of all that is random in it
    """

    extent: Extent
    seed: int = FIRST_SEED


class CasesOf(Protocol):
    """Returns the runs of one replication, see ``paper.Chapter``."""

    def __call__(self, *, extent: Extent, seed: int) -> Sequence[Case]:
        """Return the runs."""
        ...


@dataclass(frozen=True)
class DefaultSeeds:
    """The seeds of a chapter if the command line gives no number.

    :ivar number: number of seeds
    :ivar whole: whether further seeds repeat everything; if not, they repeat what ``--quick`` runs, and the long
        experiments are run with the first seed only
    """

    number: int
    whole: bool = True


def replications(
    default: DefaultSeeds, extent: Extent, seed: int = FIRST_SEED, number: int | None = None
) -> tuple[Replication, ...]:
    """Return the replications of a chapter: consecutive seeds, from the first one on.

    :param default: the chapter's own choice
    :param extent: how much to run; only ``REPEATED`` takes further seeds if no number is given
    :param seed: the first seed
    :param number: number of seeds, each for everything; None for the chapter's own choice
    """
    if number is not None:
        return tuple(Replication(extent, seed + each) for each in range(number))
    further = default.number - 1 if extent is Extent.REPEATED else 0
    further_extent = extent if default.whole else Extent.QUICK
    return (
        Replication(extent, seed),
        *(Replication(further_extent, seed + each) for each in range(1, further + 1)),
    )


def block(seed: int, count: int) -> range:
    """Return the numbers that a seed stands for in an experiment that takes several: the seed-th block of them.

    :param seed: at least 1
    :param count: size of a block
    """
    return range((seed - 1) * count, seed * count)


def block_name(seed: int) -> str:
    """Return what the names of runs end with; nothing for the first seed, as names without one are older."""
    return "" if seed == FIRST_SEED else f" seed {seed}"


def is_random(cases: CasesOf, replication: Replication) -> bool:
    """Return whether another seed gives other runs."""
    names = [{case.name for case in cases(extent=replication.extent, seed=replication.seed + step)} for step in (0, 1)]
    return names[0] != names[1]


def distinct_cases(cases: CasesOf, replicated: Sequence[Replication]) -> list[Case]:
    """Return the runs of all replications, each once."""
    found = {case.name: case for each in replicated for case in cases(extent=each.extent, seed=each.seed)}
    return list(found.values())
