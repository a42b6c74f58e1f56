"""What is due for each node of the queue that leases are for. Pure: decisions only, instants are arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class NodeState(Enum):
    """State of a node in the records. A node without a record has no lease, and no one waits for it."""

    #: The queue waits for it; it has no lease yet
    WANTED = "wanted"
    #: It has a node of a lease, and its join handler has not succeeded yet
    JOINING = "joining"
    JOINED = "joined"
    #: It leaves the queue, or has left, and its leave handler has not succeeded yet
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True)
class Node:
    """The record of a node.

    :ivar since: when it came into its state
    :ivar lease_id: the lease that it has a node of; None while it is wanted
    :ivar is_wanted_again: for a node that leaves, whether the queue waits for it again
    """

    name: str
    state: NodeState
    since: int
    lease_id: str | None = None
    is_wanted_again: bool = False


class Power(Enum):
    """Whether the queue thinks that a node exists."""

    UP = "up"
    POWERING_UP = "powering-up"
    POWERING_DOWN = "powering-down"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class QueueNode:
    """A node as the queue sees it.

    :ivar jobs: ids of the jobs that have it
    :ivar is_draining: whether it gets no further jobs, and is powered down after those that it has
    :ivar has_failed: whether the queue has given it up, because it did not come or does not answer
    :ivar is_late: whether the queue has given it up because it did not come in time
    """

    name: str
    power: Power
    jobs: tuple[str, ...] = ()
    is_draining: bool = False
    has_failed: bool = False
    is_late: bool = False


class LeaseState(Enum):
    """State of a lease at the site, as far as nodes are concerned."""

    WAITING = "waiting"
    ACTIVE = "active"
    #: It was active, and was preempted
    LOST = "lost"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease at the site.

    :ivar seconds: its duration
    :ivar end: planned end; None if it has not started
    :ivar leaves_at: when it loses its hosts, by its end or because it is to be preempted; None if it has not started
    """

    id: str
    state: LeaseState
    seconds: int = 0
    end: int | None = None
    leaves_at: int | None = None


@dataclass(frozen=True, slots=True)
class Margins:
    """Times before the end of a lease, and patience, in seconds.

    :ivar drain: a node gets no further jobs
    :ivar requeue: jobs that still run are requeued, and the node leaves
    :ivar force: seconds after which the queue is made to give up a node that should have left
    """

    drain: int
    requeue: int
    force: int


class Step(Enum):
    """What is due for a node."""

    FORGET = "forget"
    JOIN = "join"
    DRAIN = "drain"
    #: Record that it leaves
    RELEASE = "release"
    #: Requeue its jobs, and have the queue power it down
    POWER_DOWN = "power-down"
    POWER_DOWN_NOW = "power-down-now"
    LEAVE = "leave"


_GONE = (Power.DOWN, Power.POWERING_DOWN)


def due(node: Node, seen: QueueNode | None, lease: Lease | None, now: int, margins: Margins) -> Step | None:
    """Return what is due for a node, or None.

    :param seen: the node as the queue sees it; None if the queue does not know it
    :param lease: its lease; None if it has none
    """
    has_gone = seen is None or seen.power in _GONE
    if node.state is NodeState.WANTED:
        return Step.FORGET if has_gone else None
    if node.state is NodeState.LEAVING:
        return _of_leaving(node, seen, now, margins)
    if has_gone or lease is None or lease.state is not LeaseState.ACTIVE:
        return Step.RELEASE
    if lease.leaves_at is not None and now >= lease.leaves_at - margins.requeue:
        return Step.RELEASE
    if node.state is NodeState.JOINING:
        return Step.JOIN
    assert seen is not None
    return Step.DRAIN if ends_soon(lease, now, margins) and not seen.is_draining else None


def _of_leaving(node: Node, seen: QueueNode | None, now: int, margins: Margins) -> Step:
    if seen is None or seen.power in _GONE:
        return Step.LEAVE
    if node.is_wanted_again and seen.power is Power.POWERING_UP:
        return Step.LEAVE
    return Step.POWER_DOWN_NOW if seen.has_failed or now - node.since >= margins.force else Step.POWER_DOWN


def ends_soon(lease: Lease, now: int, margins: Margins) -> bool:
    """Return whether a lease is to leave so soon that its nodes get no further jobs."""
    return lease.leaves_at is not None and now >= lease.leaves_at - margins.drain


@dataclass(frozen=True, slots=True)
class Offer:
    """Nodes of a lease that has started.

    :ivar free: number of its nodes that no node of the queue uses
    :ivar job: id of the job it was asked for, or None
    """

    lease_id: str
    free: int
    job: str | None = None


def pairs(wanted: Iterable[str], offers: Sequence[Offer], jobs: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return which wanted node gets a node of which lease, as pairs of names and ids of leases.

    A lease that was asked for a job goes to the nodes of that job first, and to others when these have their nodes.

    :param jobs: name of a node -> id of the job that it is for
    """
    free = {offer.lease_id: offer.free for offer in offers}
    found: list[tuple[str, str]] = []
    rest: list[str] = []
    for name in wanted:
        own = next((o for o in offers if o.job is not None and o.job == jobs.get(name) and free[o.lease_id]), None)
        if own is None:
            rest.append(name)
        else:
            free[own.lease_id] -= 1
            found.append((name, own.lease_id))
    waiting = {jobs.get(name) for name in rest}
    for name in rest:
        other = next((o for o in offers if free[o.lease_id] and (o.job is None or o.job not in waiting)), None)
        if other is not None:
            free[other.lease_id] -= 1
            found.append((name, other.lease_id))
    return found
