"""What goes wrong in a world, and when: the only excuse for what is late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler


@dataclass
class Disturbance:
    """A time in which something goes wrong, or in which an operator changes something.

    :ivar what: name of the fault, of the fate of a host, or of the act of an operator
    :ivar start: seconds since the epoch
    :ivar end: the same; infinity as long as it goes on
    :ivar host: the only host that it is about; empty if it may be felt everywhere
    """

    what: str
    start: float
    end: float
    host: str = ""


class Disturbances:
    """Record of the disturbances of a world, in the order in which they began.

    :ivar all: the disturbances
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.all: list[Disturbance] = []

    def add(self, what: str, end: float, host: str = "") -> None:
        """Note a disturbance that begins now.

        :param end: true seconds since the world began
        """
        self.all.append(Disturbance(what, self._now(), EPOCH + end, host))

    def begin(self, what: str, host: str = "") -> Callable[[], None]:
        """Note a disturbance that begins now, and return the function that notes its end."""
        found = Disturbance(what, self._now(), inf, host)
        self.all.append(found)

        def end() -> None:
            found.end = self._now()

        return end

    def _now(self) -> float:
        return EPOCH + self._scheduler.now


def last_trouble(disturbances: Sequence[Disturbance], instant: float, hosts: frozenset[str] | None = None) -> float:
    """Return the latest instant, up to a given one, at which something went wrong; -infinity if there is none.

    :param hosts: names of the hosts whose own disturbances count; None for those of all hosts
    """
    return max(
        (
            min(each.end, instant)
            for each in disturbances
            if each.start <= instant and (hosts is None or not each.host or each.host in hosts)
        ),
        default=-inf,
    )
