"""Interfaces of what the engine needs from outside: a clock, a cloud, a store, a recorder and an image carrier."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.holding import MigrationRound
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.transfer import Transfer


class OperationKind(Enum):
    """What a cloud should do with the servers of a lease."""

    START = "start"
    RESUME = "resume"
    SUSPEND = "suspend"
    STOP = "stop"
    MIGRATE = "migrate"
    #: Follow a change of a running lease: add nodes, remove them, or move them to other hosts. The engine does not wait
    #: for this.
    ADJUST = "adjust"
    #: Make images of running servers before the end of their lease. The engine does not wait for this.
    SNAPSHOT = "snapshot"

    __hash__ = object.__hash__


#: Operations that change nothing in the plan. A later operation of the lease ends them, even if they are not complete.
UNAWAITED = frozenset({OperationKind.ADJUST, OperationKind.SNAPSHOT})


@dataclass(frozen=True, slots=True)
class Operation:
    """A command to the cloud for all nodes of a lease.

    :ivar assignment: host number of each node
    :ivar begun: instant at which the command was given
    :ivar due: instant by which it should be over according to the plan
    :ivar migration: for ``MIGRATE``, what moves
    :ivar image: disk image of the lease, or None
    :ivar without: numbers of hosts of the assignment that are skipped, because other servers are on them
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
    """Kind of a report of a cloud."""

    #: An operation or transfer completed.
    COMPLETED = "completed"
    #: An operation or transfer failed.
    FAILED = "failed"
    #: The work of a lease ended before its time.
    ENDED = "ended"
    #: The saved state of a suspended lease is gone.
    LOST = "lost"
    #: A running lease has all the hosts that an ``ADJUST`` was to give it.
    ADJUSTED = "adjusted"
    HOST_DOWN = "host-down"
    #: A host accepts nothing new, but what runs there continues.
    HOST_CLOSED = "host-closed"
    #: A host is back in service.
    HOST_UP = "host-up"
    #: A host that was told to sleep is switched off.
    HOST_ASLEEP = "host-asleep"
    #: A host that was told to sleep or to wake is up, and leases may use it.
    HOST_AWAKE = "host-awake"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """A report of the cloud on something that happened.

    :ivar kind: what happened
    :ivar instant: instant at which it happened
    :ivar lease_id: the lease concerned; None for events of hosts
    :ivar host: number of the host concerned; None if it is about no single host
    :ivar reason: why, for people; for ``HOST_AWAKE``, why the host did not sleep
    :ivar transfer: number of the transfer that completed or failed; None if the event is about something else. With a
        host, the image has arrived there or cannot be brought there, and the transfer continues. Without one, the
        transfer is over, with this result for all hosts that were not named before
    :ivar occupied: hosts that the lease does not get, because servers on them do not give way. If there are any, the
        operation, or a change of the hosts of the lease, has failed
    :ivar gives_up: whether servers that could not be suspended may be deleted
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
    """A clock that counts whole seconds since the epoch, or since the zero of a simulation."""

    def now(self) -> int:
        """Return the present instant."""
        ...


class WaitingClock(Protocol):
    """A clock that can tell how long to wait for an instant."""

    def now(self) -> int:
        """Return the present instant."""
        ...

    def seconds_until(self, instant: int) -> float:
        """Return the real seconds until an instant, or 0 if it has come."""
        ...


class Cloud(Protocol):
    """A cloud, which carries out operations. A ``COMPLETED`` or ``FAILED`` event follows each of them."""

    def begin(self, operation: Operation) -> None:
        """Begin an operation."""
        ...

    def discard(self, lease_id: str, now: int) -> None:
        """Destroy the servers of a lease and their saved state at once. No event follows."""
        ...

    def take_events(self, now: int) -> list[CloudEvent]:
        """Return the events up to now that were not taken yet, in the order in which they happened."""
        ...


class ImageCarrier(Protocol):
    """A carrier of disk images to hosts. A ``COMPLETED`` or ``FAILED`` event of the cloud follows each transfer."""

    def bring(self, transfer: Transfer, now: int) -> None:
        """Begin to bring an image to the hosts of a transfer, where it should be at the planned end of the transfer."""
        ...


class Store(Protocol):
    """A store of the latest value of every lease."""

    def save(self, lease: Lease) -> None:
        """Store a new value of a lease."""
        ...


class Recorder(Protocol):
    """A recorder of what happens, for accounting and metrics."""

    def occupied(self, lease: Lease, phase: str, start: int, end: int, assignment: tuple[int, ...]) -> None:
        """Record that a lease held hosts in ``[start, end)``.

        :param phase: ``run``, ``resume``, ``suspend`` or ``shutdown``
        """
        ...

    def count(self, what: str, number: int = 1, pool: str | None = None) -> None:
        """Add to a counter, such as ``suspensions``.

        :param pool: name of the pool in which it happened; None if the site has only one
        """
        ...

    def hosts_lost(self, lease: Lease, vms: tuple[int, ...], *, replaced: bool) -> None:
        """Record that a running lease that promises capacity lost the hosts of some nodes.

        :param lease: its present value
        :param vms: indices of the nodes
        :param replaced: whether these nodes have other hosts now; if not, the lease continues without them
        """
        ...

    def hosts_whole(self, lease: Lease) -> None:
        """Record that a lease has all its hosts again, after it lacked some or waited with its memory saved."""
        ...

    def waits_with_saved_work(self, lease: Lease) -> None:
        """Record that a lease cannot resume from its saved memory at present, for the reason in its value."""
        ...

    def terms_lost(self, lease: Lease) -> None:
        """Record that the terms of a lease that has not started cannot be kept. It will fail or start late.

        :param lease: its value with the terms that were promised
        """
        ...

    def breached(self, lease: Lease, breach: Breach) -> None:
        """Record a breach of a lease."""
        ...


@dataclass(frozen=True)
class Ports:
    """Everything outside that an engine is connected to.

    :ivar clock: tells the present instant
    :ivar cloud: carries out operations
    :ivar store: keeps the values of leases
    :ivar recorder: records what happens
    :ivar carrier: brings disk images to hosts; None if there is none
    """

    clock: Clock
    cloud: Cloud
    store: Store
    recorder: Recorder
    carrier: ImageCarrier | None = None
