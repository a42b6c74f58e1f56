"""Queued demands: cached facts about leases in the queue, which make long queues cheap."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.plan.capacity.demand import Demand


@dataclass(frozen=True, eq=False, slots=True)
class DemandClass:
    """Leases that could start at the same instants and need the same of a host, in different numbers of nodes.

    :ivar demands: the demands of one of these leases
    :ivar needed: key that is equal for all leases that need the same of a host, whatever else they wait for
    :ivar request: the terms of that lease
    :ivar moved_after: seconds after which saved memory can have moved; None if it does not move, or nothing is saved
    :ivar image_seconds: seconds to transfer the image; None if no image is needed
    """

    demands: tuple[Demand, ...]
    needed: Hashable
    request: LeaseRequest
    moved_after: int | None
    image_seconds: int | None


@dataclass(frozen=True, slots=True)
class QueuedDemand:
    """What a lease in the queue waits for.

    :ivar nodes: its node sets when this was computed
    :ivar accumulated: seconds that its nodes had run then
    :ivar resuming: whether its state is saved
    :ivar shortest: length of the shortest useful interval in seconds
    :ivar longest: length of the longest useful interval in seconds
    :ivar count: number of nodes if they are identical; else 1, for all of them together
    :ivar alike: its class
    """

    nodes: tuple[NodeSet, ...]
    accumulated: int
    resuming: bool
    shortest: int
    longest: int
    count: int
    alike: DemandClass
