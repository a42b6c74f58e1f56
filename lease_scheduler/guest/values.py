"""What controllers see and answer: waiting jobs, leases, and actions. Instants and durations are seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """A job that waits for nodes.

    :ivar id: its id in the queue; not None, also for nodes that are wanted without a job
    :ivar width: number of nodes that it still needs
    :ivar seconds: its time limit; None if it has none
    """

    id: str
    width: int
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """A lease that has not ended.

    :ivar lease_id: chosen by the guest
    :ivar units: number of nodes of the lease
    :ivar free: nodes of the lease that no node of the queue uses, whether or not the lease has started
    :ivar busy: nodes of the lease that have jobs
    :ivar term: seconds for which it was asked, which is by how much it is renewed
    :ivar seconds: its duration with the extensions that it has
    :ivar end: planned end; None as long as it has not started
    :ivar job: id of the job it was asked for; None if it was not asked for one job
    :ivar is_leaving: whether its end has been decided
    """

    lease_id: str
    units: int
    free: int
    busy: int
    term: int
    seconds: int
    end: int | None = None
    job: str | None = None
    is_leaving: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask for a lease.

    :ivar units: number of nodes
    :ivar seconds: its duration
    :ivar job: id of the job it is for; None if it is not for one job
    """

    units: int
    seconds: int
    job: str | None = None


@dataclass(frozen=True, slots=True)
class Extend:
    """Extend a lease to a total duration, so that a repeated call extends it only once."""

    lease_id: str
    seconds: int


@dataclass(frozen=True, slots=True)
class End:
    """End a lease that no node of the queue uses."""

    lease_id: str


Action = Ask | Extend | End


@dataclass(frozen=True, slots=True)
class Limits:
    """What every controller keeps to.

    :ivar nodes: maximum number of nodes of all leases together
    :ivar term: duration of a lease, if the controller does not know better
    :ivar setup: seconds that a node takes from the start of its lease until it can run jobs
    :ivar lookahead: seconds before its end at which a lease is extended
    :ivar is_renewable: whether leases that are needed are extended when their end is near
    """

    nodes: int
    term: int
    setup: int = 0
    lookahead: int = 0
    is_renewable: bool = True
