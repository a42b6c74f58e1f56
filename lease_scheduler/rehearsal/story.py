"""What happens in a world, in words, and what its clients were told."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler

_KEPT = 2_000


@dataclass(frozen=True)
class Happening:
    """Something that happened.

    :ivar instant: true seconds since the world began
    :ivar who: a person, a process, a host or a fault
    :ivar subject: id of the lease that it is about; empty if there is none
    """

    instant: float
    who: str
    what: str
    subject: str = ""

    def __str__(self) -> str:
        minutes, seconds = divmod(self.instant, 60)
        hours, minutes = divmod(int(minutes), 60)
        return f"{hours:3d}:{minutes:02d}:{seconds:05.2f}  {self.who:<14} {self.what}"


class Story:
    """The latest happenings of a world. They are part of its trace, too."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._kept: deque[Happening] = deque(maxlen=_KEPT)

    def tell(self, who: str, what: str, subject: str = "") -> None:
        """Add a happening.

        :param subject: id of the lease that it is about
        """
        found = Happening(self._scheduler.now, who, what, subject)
        self._kept.append(found)
        self._scheduler.trace.note(f"story {found}")

    def last(self, number: int, subject: str = "") -> Sequence[Happening]:
        """Return the latest happenings; with a subject, as many that are about it and as many that are about no lease.

        :param number: maximum number of each
        """
        others = [each for each in self._kept if not (subject and each.subject)][-number:]
        about = [each for each in self._kept if subject and each.subject == subject][-number:]
        return sorted(others + about, key=lambda each: each.instant)


@dataclass(frozen=True)
class ToldLease:
    """A lease that a client was told to have.

    :ivar instant: when, in seconds since the epoch
    :ivar start: when it starts, if that is known: seconds since the epoch
    :ivar end: when it ends, if that is known
    """

    lease_id: str
    project: str
    name: str
    instant: float
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True)
class BadAnswer:
    """An answer of the service that nobody should get.

    :ivar began: when the request was sent, in seconds since the epoch
    :ivar instant: when the answer came
    :ivar status: HTTP status; 0 if there was none
    """

    began: float
    instant: float
    who: str
    what: str
    status: int


@dataclass(frozen=True)
class BootedServer:
    """A server that a project has booted into an active lease of its own, with room for it.

    :ivar instant: when, in seconds since the epoch
    """

    server_id: str
    lease_id: str
    instant: float


class Ledger:
    """What clients were told.

    :ivar leases: leases that were promised, by id
    :ivar ended: lease -> instant, in seconds since the epoch, at which its end was confirmed
    :ivar answers: answers that nobody should get
    :ivar booted: servers that must start, by id
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.leases: dict[str, ToldLease] = {}
        self.ended: dict[str, float] = {}
        self.answers: list[BadAnswer] = []
        self.booted: dict[str, BootedServer] = {}
        self._boots: dict[str, int] = {}

    @property
    def now(self) -> float:
        """True seconds since the world began."""
        return self._scheduler.now

    def has(self, lease_id: str, project: str, name: str, start: float | None = None, end: float | None = None) -> None:
        """Note that a client was told that it has a lease.

        :param start: when it starts, if that is known: seconds since the epoch
        :param end: when it ends, if that is known
        """
        told = ToldLease(lease_id, project, name, EPOCH + self._scheduler.now, start, end)
        self.leases.setdefault(lease_id, told)

    def ends(self, lease_id: str) -> None:
        """Note that a client was told that its lease is over."""
        self.ended.setdefault(lease_id, EPOCH + self._scheduler.now)

    def got(self, who: str, what: str, began: float, status: int) -> None:
        """Note an answer that nobody should get.

        :param began: true seconds since the world began
        :param status: HTTP status; 0 if there was none
        """
        self.answers.append(BadAnswer(EPOCH + began, EPOCH + self._scheduler.now, who, what, status))

    def boots(self, server_id: str, lease_id: str, nodes: int) -> None:
        """Note that a project has booted a server into an active lease. The first ones must start, one for each node.

        :param nodes: number of nodes of the lease
        """
        self._boots[lease_id] = self._boots.get(lease_id, 0) + 1
        if self._boots[lease_id] <= nodes:
            self.booted[server_id] = BootedServer(server_id, lease_id, EPOCH + self._scheduler.now)
