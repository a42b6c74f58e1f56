"""Steps that remove what a lease has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lease_scheduler.cloud.nova.api.addresses import Addresses
from lease_scheduler.cloud.nova.api.server_groups import ServerGroups
from lease_scheduler.cloud.nova.images.saving import Saving
from lease_scheduler.cloud.nova.lease.aggregate_metadata import NONE, SAVED, Known, LeaseAggregates
from lease_scheduler.cloud.nova.lease.ends import Ends
from lease_scheduler.cloud.nova.lease.entered import Entered
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers
from lease_scheduler.cloud.nova.steps.holding import Holding
from lease_scheduler.cloud.nova.steps.members import Members
from lease_scheduler.cloud.nova.vacating.returning import Returning
from lease_scheduler.cloud.nova.vacating.vacancy import Vacancy
from lease_scheduler.cloud.orders import AnyOrder, Order
from lease_scheduler.engine.interfaces import OperationKind


class DeleteServers:
    """Step that deletes the servers of the lease, except for those that are set apart."""

    def __init__(
        self,
        lease_aggregates: LeaseAggregates,
        servers: Servers,
        entered: Entered,
        saving: Saving,
        returning: Returning,
        vacancy: Vacancy,
        members: Members,
    ) -> None:
        self._lease_aggregates = lease_aggregates
        self._servers = servers
        self._entered = entered
        self._saving = saving
        self._returning = returning
        self._vacancy = vacancy
        self._members = members

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        before: list[Any] = []
        if known is None:
            found = self._servers.of(order.lease_id, 0)
        else:
            before = self._servers.restorable(known)
            # Servers that Nova has just placed would otherwise arrive after the hosts were released.
            found = self._members.servers(known)
            found += self._entered.on_their_way(known, found)
            found += self._servers.restorable(known)
            apart = self._saving.apart(order.lease_id)
            found = [each for each in found if each.id not in apart]
        self._returning.forget(found)
        # Between the two lists, a server may have been restored or deleted, and so be missing from both.
        are_gone = self._servers.delete(found) and not before
        may_come = known is not None and bool(known.exclusive) and not known.managed
        return are_gone and (not may_come or self._vacancy.is_end_heard(order.lease_id))


class Leave:
    """Step that moves the hosts back to the aggregate and zone that they have without a reservation."""

    def __init__(self, lease_aggregates: LeaseAggregates, reservations: Reservations) -> None:
        self._lease_aggregates = lease_aggregates
        self._reservations = reservations

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        return known is None or self._reservations.leave(known)


class Release:
    """Step that releases the hosts and floating IPs of the lease.

    :param delete_servers: the step before, which is done again if servers still have slots of the lease
    """

    def __init__(
        self,
        lease_aggregates: LeaseAggregates,
        addresses: Addresses,
        holding: Holding,
        delete_servers: DeleteServers,
    ) -> None:
        self._lease_aggregates = lease_aggregates
        self._addresses = addresses
        self._holding = holding
        self._delete_servers = delete_servers

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        if known.addresses:
            self._addresses.remove(order.lease_id)
        in_use = self._holding.leave(known, known.shared)
        is_suspended = isinstance(order, Order) and order.operation.kind is OperationKind.SUSPEND
        if in_use and not is_suspended:
            # Nova has not released the slots of deleted servers yet, or a server came after the others were deleted.
            self._delete_servers.perform(order)
            return False
        self._lease_aggregates.leave(order.lease_id, SAVED if is_suspended else NONE, in_use)
        return True


class Remove:
    """Step that removes everything else of the lease, except for what it needs to start once more.

    :param end_trust: deletes a trust, if it exists
    """

    def __init__(
        self,
        lease_aggregates: LeaseAggregates,
        reservations: Reservations,
        ends: Ends,
        holding: Holding,
        saving: Saving,
        server_groups: ServerGroups,
        end_trust: Callable[[str], None],
    ) -> None:
        self._lease_aggregates = lease_aggregates
        self._reservations = reservations
        self._ends = ends
        self._holding = holding
        self._saving = saving
        self._server_groups = server_groups
        self._end_trust = end_trust

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if isinstance(order, Order) and self._saving.apart(order.lease_id):
            # The removal that follows needs the facts in the aggregates of the lease.
            return True
        if known is not None:
            self._holding.remove(known)
            self._reservations.remove(known)
        if order.is_over:
            self._saving.release(order)
            self._give_back(order, known)
        if known is not None:
            self._lease_aggregates.forget(order.lease_id)
        self._ends.forget(order.lease_id)
        return True

    def _give_back(self, order: AnyOrder, known: Known | None) -> None:
        """Delete the trust and the server groups of a lease, whether it has started or not."""
        described = [each for each in (known, order.document) if each is not None]
        trusts = {each.trust_id for each in described if each.trust_id is not None}
        groups = {group for each in described for group in each.server_groups}
        for trust_id in trusts:
            self._end_trust(trust_id)
        self._server_groups.remove(sorted(groups))
