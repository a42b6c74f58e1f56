"""What is measured: single operations, and several that are asked for at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class MeasuredOperation(Enum):
    """What is done with a server."""

    BOOT = "boot"
    SUSPEND = "suspend"
    RESUME = "resume"
    SHELVE = "shelve"
    UNSHELVE = "unshelve"
    STOP = "stop"
    START = "start"
    DELETE = "delete"

    __hash__ = object.__hash__


#: What can be left out: how servers make room, and how each is undone.
PAIRS = {
    MeasuredOperation.SUSPEND: MeasuredOperation.RESUME,
    MeasuredOperation.SHELVE: MeasuredOperation.UNSHELVE,
    MeasuredOperation.STOP: MeasuredOperation.START,
}


@dataclass(frozen=True)
class Sample:
    """One operation on one server. Instants are seconds since the epoch.

    :ivar host: compute host on which the server is, or was last
    :ivar commanded: when Nova was asked
    :ivar begun: when the host began with it
    :ivar ended: when the host was through
    :ivar problem: why it counts as failed; empty if it does not. Its instants mean nothing then
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
    """The same operation on some servers, asked for at once: one, or several on one host or each on a host of its own.

    :ivar repetition: which one it is of those with as many servers on as many hosts
    """

    operation: MeasuredOperation
    repetition: int
    samples: Sequence[Sample]

    @property
    def count(self) -> int:
        """How many servers."""
        return len(self.samples)

    @property
    def hosts(self) -> int:
        """On how many hosts they are."""
        return len({sample.host for sample in self.samples})

    @property
    def is_complete(self) -> bool:
        """Whether none of them has failed."""
        return not any(sample.problem for sample in self.samples)

    @property
    def rest(self) -> float:
        """Seconds from the last command until all were through, so that it does not matter how quickly they came."""
        return max(sample.ended for sample in self.samples) - max(sample.commanded for sample in self.samples)

    @property
    def elapsed(self) -> float:
        """Seconds from the first command until all were through."""
        return max(sample.ended for sample in self.samples) - min(sample.commanded for sample in self.samples)
