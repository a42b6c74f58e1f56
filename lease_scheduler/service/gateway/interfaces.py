"""The store that a gateway needs, and what of its members it may use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from lease_scheduler.federation.negotiation.record import Mode, Rules
from lease_scheduler.records.federated import FederatedLease, FollowedMember, GatewayChanges, StoredRouting
from lease_scheduler.service.gateway.projects import Projects


class GatewayStore(Protocol):
    """A store of gateways (see ``store.sql.gateway``)."""

    def lease(self, lease_id: str) -> FederatedLease | None:
        """Return a lease, deleted ones included, or None."""
        ...

    def leases(self, ids: Iterable[str]) -> list[FederatedLease]:
        """Return the leases that exist, in any order."""
        ...

    def all_ids(self) -> list[str]:
        """Return the ids of all leases, in the order of their submission."""
        ...

    def due(self, now: int, driver: str, most: int) -> list[str]:
        """Return the ids of leases for which there is something to do, the longest due first."""
        ...

    def next_due(self) -> int | None:
        """Return the earliest instant at which something is to be done, or None."""
        ...

    def live_at(self, member: str) -> list[str]:
        """Return the ids of the leases that a member has granted and that are not over."""
        ...

    def by_site_lease(self, ids: Iterable[str]) -> dict[str, str]:
        """Return ids of leases by the ids that they have at their members; unknown ones are left out."""
        ...

    def routing(self) -> StoredRouting:
        """Return what the router remembers."""
        ...

    def followed(self, member: str) -> FollowedMember:
        """Return how far a member was followed."""
        ...

    def unreachable(self) -> dict[str, int]:
        """Return the members that do not answer, with the instant since which they do not."""
        ...

    def commit(self, changes: GatewayChanges) -> list[FederatedLease]:
        """Write all changes in one transaction, and return the leases as they are written.

        :raises OutdatedError: a lease or the state of the router has been written since it was read
        """
        ...


@dataclass(frozen=True)
class GatewaySettings:
    """Settings of a gateway. All times are in seconds.

    :ivar rules: what holds for all negotiations
    :ivar mode: how members are asked
    :ivar answer_time: time after which a client gets an answer, even if members have not given theirs
    :ivar home: name of the member that is the clients' own site; None if there is none
    :ivar drive_time: time after which another gateway may go on with the calls of one that has stopped
    :ivar least_pause: pause before a call is repeated for the first time; it doubles each time
    :ivar longest_pause: longest such pause
    :ivar projects: the projects at members to which leases belong
    :ivar poll: pause between two looks at what a member tells
    """

    rules: Rules
    mode: Mode = Mode.IN_TURN
    answer_time: int = 60
    home: str | None = None
    drive_time: int = 20
    least_pause: int = 2
    longest_pause: int = 60
    poll: int = 5
    projects: Projects = field(default_factory=Projects)

    def pause(self, failures: int) -> int:
        """Return the pause after a number of failures in a row."""
        return min(self.longest_pause, self.least_pause << min(max(0, failures - 1), 16))
