"""What a lease holds of which hosts, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Closing(Enum):
    """How the run of a reservation ends."""

    SHUTDOWN = "shutdown"
    SUSPEND = "suspend"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class MigrationRound:
    """Memory images that move at the same time; no host takes part twice in one round.

    :ivar start: first second of the round
    :ivar end: first second after it
    :ivar moves: (VM index, origin host index, destination host index)
    """

    start: int
    end: int
    moves: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Holding:
    """Hosts held for a lease from ``start`` until ``end``, both in whole seconds, half open.

    Inside lie the phases of Sotomayor 2010, section 4.2: resumption ``[start, run_start)``, the run
    ``[run_start, run_end)`` and the suspension or shutdown ``[run_end, end)``. Migrations of the
    saved state happen before ``start`` and hold no host.

    :ivar assignment: host index of each VM, in the order of the lease's VMs
    :ivar charged: seconds of the run that do not count, because saving its state took none where it should have
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
        """When the first thing of this reservation happens: a migration or its start."""
        return self.migrations[0].start if self.migrations else self.start

    @property
    def hosts(self) -> frozenset[int]:
        """The hosts held."""
        return frozenset(self.assignment)
