"""Papers and their chapters with experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rich.console import Console

from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.simulation.campaigns.case import Case, Outcome


class Chapter(Protocol):
    """A module with the experiments of one chapter."""

    @property
    def SEEDS(self) -> DefaultSeeds:
        """The seeds of the chapter if the command line gives no number."""
        ...

    def cases(self, *, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
        """Return the runs of one replication.

        :param extent: how much of the chapter to run
        :param seed: seed of all that is random; a chapter without anything random gives the same runs with any seed
        """
        ...

    def report(
        self,
        outcomes: Mapping[str, Outcome],
        directory: Path,
        *,
        replications: Sequence[Replication],
        console: Console,
    ) -> int:
        """Print every check with its spread over the replications, and write CSV files and plots into the directory.

        :param outcomes: outcomes by name of the case; there may be more than those of the chapter's cases
        :param replications: what was run, at least one
        :return: number of figures outside their band
        """
        ...


@dataclass(frozen=True)
class Paper:
    """A publication whose experiments can be repeated.

    :ivar name: name of all its chapters together
    :ivar chapters: chapters by their names, in order; the complete set consists of them
    :ivar help: what the names mean, for the command line
    :ivar further: repetitions that are not part of the complete set
    :ivar inputs: returns the files that the runs read
    """

    name: str
    chapters: Mapping[str, Chapter]
    help: str
    further: Mapping[str, Chapter] = field(default_factory=dict)
    inputs: Callable[[], list[Path]] = list

    def named(self, name: str) -> Mapping[str, Chapter] | None:
        """Return the chapters that a name stands for, or None if this paper has no such name."""
        if name == self.name:
            return self.chapters
        chapter = self.chapters.get(name) or self.further.get(name)
        return None if chapter is None else {name: chapter}
