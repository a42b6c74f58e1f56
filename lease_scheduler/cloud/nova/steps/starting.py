"""Steps that let servers of a lease start."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.addresses import Addresses
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, NEVER, LeaseAggregates
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers, WantedServer
from lease_scheduler.cloud.nova.vacating.vacancy import Vacancy
from lease_scheduler.cloud.orders import AnyOrder, Order
from lease_scheduler.engine.interfaces import OperationKind


class Begin:
    """The instant from which servers of a lease may start, in the metadata of its aggregates."""

    def __init__(self, lease_aggregates: LeaseAggregates, reservations: Reservations) -> None:
        self._lease_aggregates = lease_aggregates
        self._reservations = reservations

    def set(self, order: AnyOrder, instant: str, servers: str | None = None) -> None:
        """Write the instant.

        :param servers: new state of the servers of the lease; None to keep it
        """
        known = self._lease_aggregates.known(order.lease_id)
        if known is not None:
            self._reservations.set_begin(known.reservations, instant)
        self._lease_aggregates.set_begin(order.lease_id, instant, servers)


class Open:
    """Step that lets servers of the lease start, from the start of the lease on."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        # The filter compares the instant with its own clock, so hosts that are ready early are not used early.
        self._begin.set(order, str(order.start), ACTIVE)
        return True


class Close:
    """Step that lets no server of the lease start any more."""

    def __init__(self, begin: Begin, vacancy: Vacancy) -> None:
        self._begin = begin
        self._vacancy = vacancy

    def perform(self, order: AnyOrder, /) -> bool:
        """See ``ClearingStep.perform``."""
        self._begin.set(order, NEVER)
        # nova-scheduler learns of this only a little later.
        self._vacancy.note_end(order.lease_id)
        return True


class TakeAddresses:
    """Step that gives the project the floating IPs of the lease."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        for found in lease_parts.addresses(order):
            self._addresses.ensure(
                order.lease_id, found.reservation_id, found.network_id, found.address, order.document.project_id
            )
        return True


class Boot:
    """Step that boots the servers of a managed lease."""

    def __init__(self, begin: Begin, servers: Servers, reservations: Reservations) -> None:
        self._begin = begin
        self._servers = servers
        self._reservations = reservations

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        if not order.document.servers:
            return True
        # The filter admits servers of the lease only from this instant on. 0 is past by any clock.
        self._begin.set(order, "0")
        wanted = wanted_servers(order, self._reservations.labels(order))
        if order.operation.kind is OperationKind.ADJUST:
            present = {of.number(each) for each in self._servers.find(tags=names.tag(order.lease_id))}
            if any(each.number not in present for each in wanted):
                given_up = self._servers.given_up(order.lease_id, order.document.project_id)
                wanted = [each for each in wanted if each.number in present or each.name not in given_up]
        return self._servers.boot(order.lease_id, wanted, order.document.trust_id, order.intent_id)


def wanted_servers(order: Order, labels: Mapping[int, Labels]) -> list[WantedServer]:
    """Return the servers of a managed lease: as many of each template as it states, on the nodes of its node set."""
    free: dict[int, list[tuple[int, lease_parts.Vm]]] = {}
    for number, vm in lease_parts.places(order):
        free.setdefault(vm.node_set, []).append((number, vm))
    wanted = []
    for template in order.document.servers:
        node_set = int(template.get("node_set", 0))
        count = int(template.get("count") or len(free.get(node_set, ())))
        here, free[node_set] = free.get(node_set, [])[:count], free.get(node_set, [])[count:]
        for position, (number, vm) in enumerate(here, start=1):
            if vm.host in order.without:
                continue
            name = template["name"] if len(here) == 1 else f"{template['name']}-{position}"
            wanted.append(WantedServer(number, name, template, labels[vm.node_set].flavor_id, vm.host))
    return wanted
