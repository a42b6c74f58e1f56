"""Steps that make images of the servers of a lease, or detach servers that outlive it."""

from __future__ import annotations

from lease_scheduler.cloud.nova.images.saving import Saving
from lease_scheduler.cloud.nova.lease.aggregate_metadata import LeaseAggregates
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers
from lease_scheduler.cloud.nova.steps.members import Members
from lease_scheduler.cloud.nova.vacating.outliving import OutlivingServers
from lease_scheduler.cloud.orders import AnyOrder, Order
from lease_scheduler.engine.interfaces import WaitingClock

#: Values of ``on_end`` with which servers outlive the lease. Of those that cannot, an image is made.
_KEEP, _SHELVE = "keep", "shelve"


class Keep:
    """Step that detaches the servers that outlive the lease."""

    def __init__(
        self,
        clock: WaitingClock,
        lease_aggregates: LeaseAggregates,
        servers: Servers,
        outliving: OutlivingServers,
        members: Members,
    ) -> None:
        self._clock = clock
        self._lease_aggregates = lease_aggregates
        self._servers = servers
        self._outliving = outliving
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None or order.document.on_end not in (_KEEP, _SHELVE):
            return True
        found = self._members.servers(known)
        # With the tag, a server is still found after it was resized to another flavor and host.
        self._servers.mark(found, order.lease_id)
        waited, trust_id = self._clock.now() - order.operation.begun, order.document.trust_id
        return self._outliving.keep(found, known.exclusive, waited, trust_id, shelved=order.document.on_end == _SHELVE)


class SetApart:
    """Step that stops the servers of which the lease wants images, so that the next lease can have their hosts."""

    def __init__(
        self, lease_aggregates: LeaseAggregates, reservations: Reservations, saving: Saving, members: Members
    ) -> None:
        self._lease_aggregates = lease_aggregates
        self._reservations = reservations
        self._saving = saving
        self._members = members

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None or not self._saving.is_wanted(order) or self._reservations.have_zones(known):
            # Nova changes the availability zone of no host with servers, so the images must be made first.
            return True
        return self._saving.set_apart(order, self._members.servers(known))


class Save:
    """Step that makes the images of servers that were set apart, and deletes these servers."""

    def __init__(self, servers: Servers, saving: Saving) -> None:
        self._servers = servers
        self._saving = saving

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        apart = self._saving.apart(order.lease_id)
        found = [each for server_id in sorted(apart) for each in self._servers.find(uuid=server_id)]
        return self._saving.finish_apart(order, found) and self._servers.delete(found)


class Snapshot:
    """Step that makes the images that the lease wants at its end, also of servers that could not outlive it."""

    def __init__(self, lease_aggregates: LeaseAggregates, saving: Saving, members: Members) -> None:
        self._lease_aggregates = lease_aggregates
        self._saving = saving
        self._members = members

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None or not self._saving.is_wanted(order):
            return True
        return self._saving.finish(order, self._members.servers(known))


class BeginImages:
    """Step that begins the images that the lease wants before its end."""

    def __init__(self, lease_aggregates: LeaseAggregates, saving: Saving, members: Members) -> None:
        self._lease_aggregates = lease_aggregates
        self._saving = saving
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        return known is None or self._saving.begin(order, self._members.servers(known))
