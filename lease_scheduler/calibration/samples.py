"""Measurements of single operations, and of several that are requested at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class MeasuredOperation(Enum):
    """An operation on a server."""

    BOOT = "boot"
    SUSPEND = "suspend"
    RESUME = "resume"
    SHELVE = "shelve"
    UNSHELVE = "unshelve"
    STOP = "stop"
    START = "start"
    DELETE = "delete"

    __hash__ = object.__hash__


#: Operations that free capacity, each with the operation that undoes it. A calibration may omit some.
PAIRS = {
    MeasuredOperation.SUSPEND: MeasuredOperation.RESUME,
    MeasuredOperation.SHELVE: MeasuredOperation.UNSHELVE,
    MeasuredOperation.STOP: MeasuredOperation.START,
}


@dataclass(frozen=True)
class Sample:
    """One operation on one server. Instants are seconds since the epoch.

    :ivar host: compute host of the server, or its last one
    :ivar commanded: when the operation was requested from Nova
    :ivar begun: when the host began the operation
    :ivar ended: when the host had finished it
    :ivar problem: why the operation failed, or empty. The instants of a failed operation mean nothing
    """

    operation: MeasuredOperation
    server_id: str
    host: str
    commanded: float
    begun: float = 0.0
    ended: float = 0.0
    problem: str = ""

    @property
    def duration(self) -> float:
        """Seconds that the host took."""
        return self.ended - self.begun

    @property
    def overhead(self) -> float:
        """Seconds from the command until the host began (haizea F71)."""
        return self.begun - self.commanded


@dataclass(frozen=True)
class Batch:
    """The same operation, requested at once for one server, for several on one host, or for several on as many hosts.

    :ivar repetition: its number among the batches with equally many servers and hosts
    """

    operation: MeasuredOperation
    repetition: int
    samples: Sequence[Sample]

    @property
    def count(self) -> int:
        """The number of servers."""
        return len(self.samples)

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return len({sample.host for sample in self.samples})

    @property
    def is_complete(self) -> bool:
        """Whether no operation has failed."""
        return not any(sample.problem for sample in self.samples)

    @property
    def rest(self) -> float:
        """Seconds from the last command until all were finished, so that the time between commands does not count."""
        return max(sample.ended for sample in self.samples) - max(sample.commanded for sample in self.samples)

    @property
    def elapsed(self) -> float:
        """Seconds from the first command until all were finished."""
        return max(sample.ended for sample in self.samples) - min(sample.commanded for sample in self.samples)
