"""The servers of a lease as they are now, and the hosts that are planned for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.images import image_records
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import Known, LeaseAggregates
from lease_scheduler.cloud.nova.lease.entered import Entered
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers
from lease_scheduler.cloud.orders import Order

#: States of servers that may be set apart.
_STOPPED = frozenset({of.STOPPED, of.SUSPENDED})


class Members:
    """The servers of leases, and the planned hosts.

    :param is_guest_put_away: returns whether a server is a guest that gave way to a lease
    """

    def __init__(
        self,
        lease_aggregates: LeaseAggregates,
        nodes: Nodes,
        servers: Servers,
        reservations: Reservations,
        entered: Entered,
        is_guest_put_away: Callable[[Any], bool],
    ) -> None:
        self._lease_aggregates = lease_aggregates
        self._nodes = nodes
        self._servers = servers
        self._reservations = reservations
        self._entered = entered
        self._is_guest_put_away = is_guest_put_away

    def servers(self, known: Known) -> list[Any]:
        """Return the servers of a lease."""
        own = self._servers.of(known.lease_id, known.node_sets, known.exclusive, known.project_id)
        own += self._reservations.servers_of(known) + self._entered.by_hint(known)
        found = {each.id: each for each in own}
        stopped = [each for each in own if each.status in _STOPPED and of.made_for(each) is None]
        if stopped:
            # Others of the project may be there, too: servers of an earlier lease, and guests that gave way.
            tag = names.tag(known.lease_id)
            guests = {each.id for each in stopped if tag not in of.tags(each) and self._is_guest_put_away(each)}
            for server_id in guests | self.apart_from(known.lease_id):
                found.pop(server_id, None)
        return list(found.values())

    def apart_from(self, lease_id: str) -> frozenset[str]:
        """Return the servers that other leases have set apart on hosts that they do not have any more."""
        others = (known for known in self._lease_aggregates.all().values() if known.lease_id != lease_id)
        return frozenset(server_id for known in others for server_id in image_records.apart(known.images))

    def leaving(self, lease_id: str) -> frozenset[tuple[str, str]]:
        """Return (compute service, project) for the compute services that other leases still have for themselves."""
        others = (known for known in self._lease_aggregates.all().values() if known.lease_id != lease_id)
        return frozenset((service, known.project_id) for known in others for service in known.exclusive)

    def planned(self, order: Order) -> frozenset[str]:
        """Return the compute services that are planned for a lease."""
        return self._nodes.services(vm.host for vm in lease_parts.vms(order))

    def planned_by_use(self, order: Order) -> dict[bool, frozenset[str]]:
        """Return the compute services that a lease should have for itself (True) and share (False)."""
        found = lease_parts.vms(order)
        return {
            exclusive: self._nodes.services(lease_parts.hosts(found, exclusive=exclusive))
            for exclusive in (True, False)
        }

    def planned_by_number(self, order: Order) -> dict[int, str]:
        """Return number of each server of a lease -> compute service that is planned for it."""
        places = [(number, vm.host) for number, vm in lease_parts.places(order) if vm.host not in order.without]
        return {number: self._nodes.node(host).service for number, host in places}
