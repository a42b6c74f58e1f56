"""Holdings: what a lease has on hosts, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Closing(Enum):
    """How the run of a holding ends."""

    SHUTDOWN = "shutdown"
    SUSPEND = "suspend"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class MigrationRound:
    """Moves of the saved memory of several nodes at the same time. Each host takes part in at most one of them.

    :ivar start: first second of the round
    :ivar end: first second after the round
    :ivar moves: (node index, origin host index, destination host index)
    """

    start: int
    end: int
    moves: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Holding:
    """Hosts that a lease holds in ``[start, end)``, in whole seconds.

    The interval has the phases of Sotomayor 2010, section 4.2: resumption ``[start, run_start)``, run
    ``[run_start, run_end)``, and suspension or shutdown ``[run_end, end)``. Migrations of saved memory happen before
    ``start`` and hold no host.

    :ivar assignment: host index of each node, in the order of the lease's nodes
    :ivar closing: how the run ends
    :ivar migrations: rounds in which saved memory moves to these hosts before ``start``
    :ivar charged: seconds of the run that do not count as work done, because saving the state of the lease would have
        taken them
    """

    assignment: tuple[int, ...]
    start: int
    run_start: int
    run_end: int
    end: int
    closing: Closing = Closing.SHUTDOWN
    migrations: tuple[MigrationRound, ...] = ()
    charged: int = 0

    @property
    def first_instant(self) -> int:
        """Instant of its first effect: its first migration, or its start."""
        return self.migrations[0].start if self.migrations else self.start

    @property
    def hosts(self) -> frozenset[int]:
        """Indices of the hosts held."""
        return frozenset(self.assignment)
