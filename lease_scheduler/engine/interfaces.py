"""What the engine needs from outside: a clock, a cloud, a store, somebody who keeps records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.holding import MigrationRound
from lease_scheduler.model.lease import DiskImage, Lease
from lease_scheduler.model.transfer import Transfer


class OperationKind(Enum):
    """What the engine asks a cloud to do with the VMs of a lease."""

    START = "start"
    RESUME = "resume"
    SUSPEND = "suspend"
    STOP = "stop"
    MIGRATE = "migrate"
    #: Running VMs follow a change of their lease: others come, some go, some get another host. The engine does not wait
    #: for it.
    ADJUST = "adjust"
    #: Images are made of running VMs before the end of their lease. The engine does not wait for it.
    SNAPSHOT = "snapshot"

    __hash__ = object.__hash__


#: Operations that change nothing for the plan. Any later operation of the lease does without their rest.
UNAWAITED = frozenset({OperationKind.ADJUST, OperationKind.SNAPSHOT})


@dataclass(frozen=True, slots=True)
class Operation:
    """A command to the cloud for all VMs of a lease.

    :ivar kind: what to do
    :ivar lease_id: whose VMs
    :ivar assignment: host number of each VM
    :ivar begun: when the command was given
    :ivar due: when it is over according to the plan
    :ivar migration: for ``MIGRATE``, what moves
    :ivar image: the lease's disk image, none if it has none
    :ivar without: numbers of hosts of the assignment that are left out, because others are on them
    """

    kind: OperationKind
    lease_id: str
    assignment: tuple[int, ...]
    begun: int
    due: int
    migration: MigrationRound | None = None
    image: DiskImage | None = None
    without: frozenset[int] = frozenset()


class EventKind(Enum):
    """What a cloud reports."""

    COMPLETED = "completed"
    FAILED = "failed"
    ENDED = "ended"
    LOST = "lost"
    #: A running lease has all the hosts that an ``ADJUST`` was to give it.
    ADJUSTED = "adjusted"
    HOST_DOWN = "host-down"
    HOST_CLOSED = "host-closed"
    HOST_UP = "host-up"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """Something that really happened.

    :ivar kind: an operation completed or failed, the work of a lease is over before its time (``ENDED``), what
        was saved of a suspended lease is gone (``LOST``), a host went down, is closed to anything new while what runs
        there goes on, or came back
    :ivar instant: when
    :ivar lease_id: the lease concerned, none for host events
    :ivar host: the host concerned, none if no single one
    :ivar reason: for people
    :ivar transfer: number of the transfer that is completed or failed, none if it is about something else. With a host,
        the image is there or cannot be brought there, and the transfer goes on; without, it is over, and so it went for
        all hosts that were not named
    :ivar occupied: hosts that the lease does not get because servers are on them that do not give way; the operation or
        a change of its hosts, has failed
    :ivar gives_up: whether what could not be suspended may be deleted
    """

    kind: EventKind
    instant: int
    lease_id: str | None = None
    host: int | None = None
    reason: str = ""
    transfer: int | None = None
    occupied: frozenset[int] = frozenset()
    gives_up: bool = False


class Clock(Protocol):
    """Tells the time in whole seconds since the epoch of the run."""

    def now(self) -> int:
        """The present instant."""
        ...


class Cloud(Protocol):
    """Carries out operations; every operation is answered by a ``COMPLETED`` or ``FAILED`` event."""

    def begin(self, operation: Operation) -> None:
        """Start to carry out an operation."""
        ...

    def discard(self, lease_id: str, now: int) -> None:
        """Destroy the lease's VMs and everything saved of them, at once; nothing is reported."""
        ...

    def take_events(self, now: int) -> list[CloudEvent]:
        """What happened up to now and was not taken yet, in the order in which it happened."""
        ...


class ImageCarrier(Protocol):
    """Brings disk images to hosts; every transfer is answered by a ``COMPLETED`` or ``FAILED`` event of the cloud."""

    def bring(self, transfer: Transfer, now: int) -> None:
        """Start to bring an image to the transfer's hosts; it is due to be there at the transfer's end."""
        ...


class Store(Protocol):
    """Remembers the latest value of every lease."""

    def save(self, lease: Lease) -> None:
        """Keep a new value of a lease."""
        ...


class Recorder(Protocol):
    """Keeps account of what happens, for metrics."""

    def occupied(self, lease: Lease, phase: str, start: int, end: int, assignment: tuple[int, ...]) -> None:
        """A lease held hosts in ``[start, end)``; phases are run, resume, suspend, shutdown."""
        ...

    def count(self, what: str, number: int = 1) -> None:
        """Something countable happened, e.g. ``suspensions``."""
        ...

    def hosts_lost(self, lease: Lease, vms: tuple[int, ...], *, replaced: bool) -> None:
        """A running lease that promises capacity lost the hosts of some VMs.

        :param lease: its present value
        :param vms: indices of the VMs
        :param replaced: whether they have others now; if not, the lease goes on without
        """
        ...

    def hosts_whole(self, lease: Lease) -> None:
        """A lease that went on without some of its hosts, or waited with its memory saved, has all it needs again."""
        ...

    def waits_with_saved_work(self, lease: Lease) -> None:
        """The saved memory of a lease cannot be brought back for now; the reason is the lease's."""
        ...

    def terms_lost(self, lease: Lease) -> None:
        """The terms of a lease that has not begun cannot be kept: it fails, or begins late, after this.

        :param lease: its value with the terms that were promised
        """
        ...

    def breached(self, lease: Lease, breach: Breach) -> None:
        """A term of a lease was not kept."""
        ...
