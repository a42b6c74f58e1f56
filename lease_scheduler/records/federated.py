"""What a gateway keeps: federated leases, the state of its router, and how far it has followed each member."""

from __future__ import annotations

from dataclasses import dataclass, field

from lease_scheduler.federation.negotiation.record import Negotiation
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.lease import Lease
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.history import Transition


class OutdatedError(LeaseSchedulerError):
    """What is to be written follows from something that was changed meanwhile; read it again."""


@dataclass(frozen=True)
class FederatedLease:
    """A lease of a gateway, with the record of its negotiation.

    :ivar lease: the lease as users see it
    :ivar document: what its project states about it
    :ivar negotiation: the record from which all calls to members follow
    :ivar version: number of times that it was written; 0 if it was not
    :ivar due_at: instant from which on there is something to do for it; None if there is nothing
    :ivar failures: number of rounds in a row that left calls without an answer
    :ivar heard: number of the latest transition that was heard of from its member; 0 for none
    :ivar driver: name of the gateway that makes its calls; None if none does
    :ivar driven_until: instant from which on another gateway may make them; None without a driver
    """

    lease: Lease
    document: LeaseDocument
    negotiation: Negotiation
    version: int = 0
    due_at: int | None = None
    failures: int = 0
    heard: int = 0
    driver: str | None = None
    driven_until: int | None = None

    @property
    def lease_id(self) -> str:
        """The id of the lease at the gateway, which is that of the ask."""
        return self.lease.lease_id


@dataclass(frozen=True)
class StoredRouting:
    """What the router remembers.

    :ivar version: number of times that it was written
    """

    state: RoutingState = field(default_factory=RoutingState)
    version: int = 0


@dataclass(frozen=True)
class FollowedMember:
    """How far a gateway has followed a member.

    :ivar name: name of the member
    :ivar sequence: number of the latest of its transitions that were taken over
    :ivar unreachable_since: instant since which it does not answer; None if it does
    """

    name: str
    sequence: int = 0
    unreachable_since: int | None = None


@dataclass
class GatewayChanges:
    """What one transaction of a gateway writes.

    :ivar leases: new values of leases, whose versions are those that were read
    :ivar routing: new state of the router, with the version that was read; None to leave it alone
    """

    instant: int
    leases: list[FederatedLease] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    routing: StoredRouting | None = None
    members: list[FollowedMember] = field(default_factory=list)
