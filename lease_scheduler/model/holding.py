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
    """Saved memory of several VMs that moves at the same time; each host takes part in at most one move of a round.

    :ivar start: first second of the round
    :ivar end: first second after the round
    :ivar moves: (VM index, origin host index, destination host index)
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

    :ivar assignment: host index of each VM, in the order of the lease's VMs
    :ivar closing: how the run ends
    :ivar migrations: rounds in which saved memory moves to these hosts before ``start``
    :ivar charged: seconds of the run that count as lost, in place of the time that saving its state should have taken
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
        """When the holding begins to have an effect: at its first migration, or at its start."""
        return self.migrations[0].start if self.migrations else self.start

    @property
    def hosts(self) -> frozenset[int]:
        """Indices of the hosts held."""
        return frozenset(self.assignment)
