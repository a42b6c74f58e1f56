"""Steps that put the servers of a lease away, bring them back, and move them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.server import service
from lease_scheduler.cloud.nova.lease.aggregate_metadata import Known, LeaseAggregates
from lease_scheduler.cloud.nova.lease.servers import Servers
from lease_scheduler.cloud.nova.steps.members import Members
from lease_scheduler.cloud.nova.vacating.preemption import ServerPreemption
from lease_scheduler.cloud.nova.vacating.returning import Returning
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.kinds import PreemptionMode


class PutAway:
    """Step that puts the servers of the lease away, in its preemption mode."""

    def __init__(
        self,
        clock: WaitingClock,
        lease_aggregates: LeaseAggregates,
        servers: Servers,
        preemption: ServerPreemption,
        members: Members,
    ) -> None:
        self._clock = clock
        self._lease_aggregates = lease_aggregates
        self._servers = servers
        self._preemption = preemption
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        before = self._servers.restorable(known)
        found = self._members.servers(known)
        # Servers that were found by their host leave it, so they need the tag.
        self._servers.mark(found, order.lease_id)
        services, late = self._members.planned(order), self._clock.now() - order.operation.due
        are_away = self._preemption.put_lease_away(found, services, order.request.preemption_mode, late)
        # Between the two lists, a server may have been restored or deleted, and so be missing from both.
        return self._servers.delete(self._servers.restorable(known)) and are_away and not before


class MoveOff:
    """Step that shelves servers that stayed on hosts where they are not planned any more. They would resume there."""

    def __init__(
        self, clock: WaitingClock, lease_aggregates: LeaseAggregates, preemption: ServerPreemption, members: Members
    ) -> None:
        self._clock = clock
        self._lease_aggregates = lease_aggregates
        self._preemption = preemption
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        planned = self._members.planned(order)
        elsewhere = [each for each in self._members.servers(known) if service(each) not in (None, *planned)]
        late = self._clock.now() - order.operation.due
        return self._preemption.put_away(elsewhere, PreemptionMode.SHELVE, late, must_leave=True)


class BringBack:
    """Step that brings the servers of the lease back on the hosts that are planned for them."""

    def __init__(self, lease_aggregates: LeaseAggregates, returning: Returning, members: Members) -> None:
        self._lease_aggregates = lease_aggregates
        self._returning = returning
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        return known is None or self._returning.bring_back(
            self._members.servers(known),
            self._members.planned_by_number(order),
            self._members.planned(order),
            order.document.trust_id,
        )


class Follow:
    """Step that moves the servers of the lease to its hosts."""

    def __init__(
        self,
        clock: WaitingClock,
        hosts: Hosts,
        lease_aggregates: LeaseAggregates,
        servers: Servers,
        returning: Returning,
        members: Members,
    ) -> None:
        self._clock = clock
        self._hosts = hosts
        self._lease_aggregates = lease_aggregates
        self._servers = servers
        self._returning = returning
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        services, planned = self._members.planned(order), self._members.planned_by_number(order)
        before = self._restorable_elsewhere(known, services)
        found, late = self._members.servers(known), self._clock.now() - order.operation.due
        are_there = self._returning.follow(found, services, planned, self._hosts.is_up, late, order.document.trust_id)
        return self._servers.delete(self._restorable_elsewhere(known, services)) and are_there and not before

    def _restorable_elsewhere(self, known: Known, services: Collection[str]) -> list[Any]:
        return [each for each in self._servers.restorable(known) if service(each) not in services]
