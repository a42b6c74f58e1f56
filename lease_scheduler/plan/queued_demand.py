"""What is remembered of leases in the queue, so that a long one costs little."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.demand import Demand


@dataclass(frozen=True, eq=False, slots=True)
class DemandClass:
    """Leases that could begin at the same instants, and need the same of a host; each has its number of VMs.

    :ivar demands: the node sets of one of them
    :ivar needed: the same for all leases that need the same of a host, whatever else they wait for
    :ivar request: the terms of the same one
    :ivar moved_after: seconds after which its saved memory can have moved; none if it stays, or if nothing is saved
    :ivar image_seconds: how long it takes to bring its image; none if that does not matter
    """

    demands: tuple[Demand, ...]
    needed: Hashable
    request: LeaseRequest
    moved_after: int | None
    image_seconds: int | None


@dataclass(frozen=True, slots=True)
class QueuedDemand:
    """What a lease in the queue waits for.

    :ivar accumulated: seconds that its VMs had run when this was found
    :ivar resuming: whether something of it is saved
    :ivar shortest: seconds, the shortest useful interval
    :ivar longest: seconds, the longest interval that it can use
    :ivar count: how many VMs it has, if they are all alike; else 1, for all of them together
    :ivar alike: the leases like it
    """

    accumulated: int
    resuming: bool
    shortest: int
    longest: int
    count: int
    alike: DemandClass
