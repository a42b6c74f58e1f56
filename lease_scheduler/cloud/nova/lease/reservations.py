"""Things that Blazar's clients look for in Nova: aggregates, flavors and slots named after reservations.

They are created if the Blazar profile is switched on. Otherwise, those that Blazar itself has created for leases that
were taken over are kept as long as these leases last.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.aggregates import Aggregate, Aggregates
from lease_scheduler.cloud.nova.api.flavors import LeaseFlavors
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import NAMED_BY, NEVER, Known, lease_metadata
from lease_scheduler.cloud.nova.lease.freepool import Freepool
from lease_scheduler.cloud.nova.lease.lease_parts import LeasePart
from lease_scheduler.cloud.nova.lease.servers import Servers
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.nova import aggregates as metadata

LOG = logging.getLogger(__name__)

#: Returns the aggregate with a name, or None.
FindAggregate = Callable[[str], Aggregate | None]

#: Key in the aggregates of a lease whose reservations have aggregates, too.
_MADE = "lease:blazar"

#: Key of an aggregate that Blazar has created.
_ADOPTED = "lease:adopted"

#: Key by which a filter in Nova keeps servers of other projects off.
_FILTER_TENANT = "filter_tenant_id"

#: Part of Nova's error message for a host in another availability zone.
_IN_ANOTHER_ZONE = "already in availability zone"


@dataclass(frozen=True)
class BlazarOptions:
    """Options for Blazar's clients.

    :ivar profile: whether leases that are not preemptible get the things in Nova that Blazar makes
    :ivar deletes_preemptible: whether servers of a preemptible flavor are deleted instead of shelved on hosts that a
        lease gets for itself
    :ivar saves_by_default: whether images are made before the end of host reservations with ``before_end = default``
    """

    profile: bool = False
    deletes_preemptible: bool = False
    saves_by_default: bool = False


class Reservations:
    """Aggregates, flavors and slots that are named after reservations."""

    def __init__(
        self,
        aggregates: Aggregates,
        freepool: Freepool,
        nodes: Nodes,
        servers: Servers,
        flavors: LeaseFlavors,
        placement: Placement,
        options: BlazarOptions,
    ) -> None:
        self._aggregates = aggregates
        self._freepool = freepool
        self._nodes = nodes
        self._servers = servers
        self._flavors = flavors
        self._placement = placement
        self._options = options

    # -- what there is, and its names ------------------------------------------------------------------------

    def _is_made(self, order: Order, find: FindAggregate | None = None) -> bool:
        """Return whether the profile applies to a lease. It never does to preemptible leases, which Blazar lacks.

        This does not change while the lease lasts, even if the operator changes the option. The present option counts
        at a start, and if the aggregates of the lease are gone.
        """
        look = find or self._aggregates.find
        own = [aggregate for name in _own_names(order) if (aggregate := look(name)) is not None]
        if order.operation.kind is OperationKind.START or not own:
            return self._options.profile and not order.request.preemptible
        return any(metadata.is_true(aggregate.metadata.get(_MADE)) for aggregate in own)

    def parts(self, order: Order, find: FindAggregate | None = None) -> list[tuple[LeasePart, Aggregate | None]]:
        """Return the reservations that have or should have their own aggregate, each with that aggregate or None.

        :param find: returns aggregates by name; None asks Nova
        """
        look = find or self._aggregates.find
        found = [(part, look(part.reservation_id)) for part in lease_parts.parts(order)]
        return [(part, aggregate) for part, aggregate in found if aggregate is not None or self._is_made(order, find)]

    def aggregate_ids(self, lease_id: str, reservations: Iterable[str]) -> dict[str, int]:
        """Return instance reservation -> id of its own aggregate, or else of the aggregate of the lease."""
        shared = names.aggregate(lease_id, exclusive=False)
        own = set(reservations)
        ids = self._aggregates.ids({*own, shared})
        found = {reservation_id: ids.get(reservation_id, ids.get(shared)) for reservation_id in own}
        return {reservation_id: number for reservation_id, number in found.items() if number is not None}

    def _named(self, known: Known) -> list[Aggregate]:
        found = (self._aggregates.find(reservation_id) for reservation_id in known.reservations)
        return [aggregate for aggregate in found if aggregate is not None]

    def taken_out(self) -> frozenset[str]:
        """Return the compute services that are not in the pool's aggregate because they are reserved."""
        if not self._options.profile:
            return frozenset()
        reserved = (each.hosts for each in self._aggregates.all() if NAMED_BY in each.metadata and each.zone)
        return frozenset[str]().union(*reserved)

    def labels(self, order: Order, find: FindAggregate | None = None) -> dict[int, Labels]:
        """Return the names of flavor and slots of each node set of a lease.

        :param find: returns aggregates by name; None asks Nova
        """
        found = {number: names.labels(order.lease_id, number) for number in range(len(order.request.nodes))}
        for part, aggregate in self.parts(order, find):
            if part.has_whole_hosts:
                continue
            of_reservation = names.reservation_labels(part.reservation_id, part.server_group_id)
            for number in part.node_sets:
                if aggregate is not None and _is_adopted(aggregate):
                    # Existing servers keep Blazar's slots, so new servers get slots of our class.
                    of_reservation = replace(of_reservation, slot_class=found[number].slot_class)
                found[number] = of_reservation
        return found

    def claims(self, order: Order, find: FindAggregate | None = None) -> Counter[tuple[int, str]]:
        """Return node set and host -> number of servers from Blazar's time, which themselves claim what they need.

        :param find: returns aggregates by name; None asks Nova
        """
        found: Counter[tuple[int, str]] = Counter()
        for part, aggregate in self.parts(order, find):
            if aggregate is None or not _is_adopted(aggregate) or part.has_whole_hosts:
                continue
            for server in self._servers.find(flavor=part.reservation_id):
                host = of.host(server)
                if host is not None and not of.claims_nothing(server):
                    found[part.node_sets[0], host] += 1
        return found

    def servers_of(self, known: Known) -> list[Any]:
        """Return the servers that Blazar assigns to the lease: those on reserved hosts or with reservation flavors."""
        found: dict[str, Any] = {}
        for aggregate in self._named(known):
            if aggregate.zone is None:
                found |= {each.id: each for each in self._servers.find(flavor=aggregate.name)}
            for service in sorted(aggregate.hosts) if aggregate.zone is not None else ():
                here = self._servers.find(host=service)
                found |= {each.id: each for each in here if of.made_for(each) in (None, known.lease_id)}
        return list(found.values())

    def have_zones(self, known: Known) -> bool:
        """Return whether a lease has hosts in a separate availability zone."""
        return any(aggregate.zone is not None for aggregate in self._named(known))

    # -- from the start to the end ---------------------------------------------------------------------------

    def describe(self, order: Order, *, exactly: bool, is_new: bool = False) -> None:
        """Create or change the aggregates of reservations. Those of instance reservations get their hosts, too.

        :param exactly: whether hosts that are not planned any more are removed
        :param is_new: whether the lease had no aggregate before
        """
        if self._is_made(order) or (is_new and self._is_made(order, lambda name: None)):
            for name in _own_names(order):
                self._aggregates.set_metadata(name, {_MADE: "true"})
        for part, known in self.parts(order):
            said = said_by(order, part)
            if known is None:
                said[metadata.FROM] = NEVER
            elif NAMED_BY not in known.metadata:
                said[_ADOPTED] = "true"
            planned = self._nodes.services(vm.host for vm in part.vms)
            present = frozenset() if known is None else known.hosts
            if part.has_whole_hosts:
                self._aggregates.describe(part.reservation_id, said, names.zone(part.reservation_id))
                if exactly:
                    self._withdraw(part.reservation_id, present - planned)
            else:
                self._aggregates.ensure(part.reservation_id, said, planned if exactly else planned | present)

    def clear(self, order: Order, services: Iterable[str], shelve: Any) -> bool:
        """Clear all servers off hosts that get another availability zone. Return whether this is done.

        :param shelve: shelves servers of preempted leases that stayed there; returns whether they are shelved
        """
        if not any(part.has_whole_hosts for part, _ in self.parts(order)):
            return True
        is_over = True
        for service in sorted(services):
            here = self._servers.find(host=service)
            if self._options.profile and self._options.deletes_preemptible:
                guests = [each for each in here if of.is_guest(each)]
                is_over &= self._servers.delete(guests)
            others = [each for each in here if of.made_for(each) not in (None, order.lease_id)]
            is_over &= shelve([each for each in others if each.status in (of.STOPPED, of.SUSPENDED)])
        return is_over

    def enter(self, order: Order) -> bool:
        """Move hosts of host reservations from the pool to the aggregate of their reservation.

        :return: whether that is done
        :raises StepFailedError: a host has another availability zone
        """
        is_over = True
        for part, _ in self.parts(order):
            if not part.has_whole_hosts:
                continue
            services = self._nodes.services(vm.host for vm in part.vms)
            refused = self._aggregates.add(part.reservation_id, services)
            for service, reason in refused.items():
                LOG.info("lease %s: Nova does not give %s another zone: %s", order.lease_id, service, reason)
                if _IN_ANOTHER_ZONE in reason:
                    (host,) = self._nodes.names([service])
                    raise StepFailedError(f"its host cannot be reserved for Blazar's clients: {reason}", host)
            if self._options.profile:
                # Only now, so that the host is always in one of the two.
                self._freepool.take_out(services - refused.keys())
            # A running lease may have a new host even if servers that run there keep it from changing its zone.
            is_over &= not refused or order.operation.kind is OperationKind.ADJUST
        return is_over

    def set_begin(self, reservations: Iterable[str], instant: str) -> None:
        """Set the instant from which servers may start, in the aggregates that exist."""
        for reservation_id in reservations:
            self._aggregates.set_metadata(reservation_id, {metadata.FROM: instant})

    def leave(self, known: Known) -> bool:
        """Move the hosts of reservations back to the pool. Return whether Nova allowed it for all of them."""
        left = [self._withdraw(aggregate.name, aggregate.hosts) for aggregate in self._named(known)]
        return all(left)

    def _withdraw(self, name: str, services: frozenset[str]) -> bool:
        found = self._aggregates.find(name)
        if not services or found is None:
            return True
        if found.zone is not None:
            self._freepool.put_back(services)
        refused = self._aggregates.withdraw(name, services)
        for service, reason in refused.items():
            LOG.info("Nova does not let %s leave aggregate %s: %s", service, name, reason)
        if found.zone is not None:
            # Again, because a change of the pool between the two calls would have left them out.
            self._freepool.put_back(services - refused.keys())
        return not refused

    def remove(self, known: Known) -> None:
        """Remove everything that is named after a reservation of the lease."""
        for aggregate in self._named(known):
            if aggregate.zone is None:
                self._flavors.remove([aggregate.name])
                # The classes of adopted reservations are still in use by Blazar's providers, so leave them.
                if not _is_adopted(aggregate):
                    self._placement.remove_class(names.reservation_class(aggregate.name))
            self._aggregates.remove(aggregate.name)


def said_by(order: Order, part: LeasePart) -> dict[str, str]:
    """Return the metadata of the aggregate of a reservation, except for keys that change while the lease runs."""
    said = lease_metadata(order, exclusive=part.has_whole_hosts)
    said |= {NAMED_BY: part.reservation_id, metadata.BLAZAR_OWNER: order.document.project_id}
    if not part.has_whole_hosts:
        said |= {metadata.BLAZAR_RESERVATION: part.reservation_id, _FILTER_TENANT: order.document.project_id}
        if part.server_group_id is not None:
            said[names.AFFINITY] = part.server_group_id
    return said


def _own_names(order: Order) -> tuple[str, str]:
    """Return the names of the aggregates of a lease itself."""
    return (names.aggregate(order.lease_id, exclusive=True), names.aggregate(order.lease_id, exclusive=False))


def _is_adopted(aggregate: Aggregate) -> bool:
    said: Mapping[str, str] = aggregate.metadata
    return NAMED_BY not in said or metadata.is_true(said.get(_ADOPTED))
