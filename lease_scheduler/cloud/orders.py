"""What the service wants of a cloud: orders for a lease or an image, and what a lease should have there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lease_scheduler.cloud.differences import Presence
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.records.documents import LeaseDocument


@dataclass(frozen=True)
class Order:
    """An operation of a lease with everything that a cloud needs to carry it out.

    :ivar intent_id: number of the intent
    :ivar hosts: name of the host of each node
    :ivar request: terms of the lease
    :ivar step: number of the first step that is not known to be done
    :ivar start: earliest start of the servers that the project boots itself
    :ivar without: names of planned hosts that the lease does not get, because other servers are on them
    """

    intent_id: int
    lease_id: str
    operation: Operation
    hosts: tuple[str, ...]
    request: LeaseRequest
    document: LeaseDocument
    step: int = 0
    start: int = 0
    without: frozenset[str] = frozenset()

    @property
    def is_over(self) -> bool:
        """Whether the lease ends with this order, so that nothing is kept for another start."""
        return self.operation.kind is OperationKind.STOP


@dataclass(frozen=True)
class Removal:
    """An order to remove everything that a lease has in the cloud. Its terms and hosts are not needed for that.

    :ivar intent_id: number of the intent
    :ivar document: document of the lease, or None if the service does not know the lease
    :ivar step: number of the first step that is not known to be done
    :ivar is_over: whether the lease has ended, so that nothing is kept for another start
    """

    intent_id: int
    lease_id: str
    document: LeaseDocument | None = None
    step: int = 0
    is_over: bool = False


#: What the executor passes to a driver.
AnyOrder = Order | Removal


@dataclass(frozen=True)
class Expectation:
    """What a lease should have in the cloud, in a form from which a driver derives the details.

    :ivar order: an order that adjusts the lease to the plan
    :ivar presence: how much of it should be there
    :ivar until: the end of the lease that the cloud should know, or None if it should know none
    """

    order: Order
    presence: Presence
    until: int | None = None


@dataclass(frozen=True)
class ImageOrder:
    """A disk image to be transferred to the caches of hosts, ahead of the servers that boot from it.

    :ivar number: unique among the orders of one engine
    :ivar hosts: names of the compute hosts
    :ivar begun: when the order was given
    :ivar due: when the image should be there, according to its size
    """

    number: int
    image_id: str
    hosts: frozenset[str]
    begun: int
    due: int


@dataclass(frozen=True)
class ImageProgress:
    """Progress of the transfer of an image.

    :ivar there: names of the hosts that have it
    :ivar failed: hosts that do not get it -> reason
    :ivar is_over: whether the transfer has ended; then each host is in one of the two
    """

    there: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)
    is_over: bool = False
