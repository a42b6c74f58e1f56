"""What Blazar's clients look for in Nova: aggregates, flavors and slots that have the name of a reservation.

With the profile they are made. Without it, those that Blazar itself has made for leases that were taken over are kept
as long as the leases last.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lease_scheduler.cloud.driver import Order, StepFailedError
from lease_scheduler.cloud.nova import lease_parts, names
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.aggregate_metadata import NAMED_BY, NEVER, Known, lease_metadata
from lease_scheduler.cloud.nova.aggregates import Aggregate, Aggregates
from lease_scheduler.cloud.nova.flavors import LeaseFlavors
from lease_scheduler.cloud.nova.freepool import Freepool
from lease_scheduler.cloud.nova.lease_parts import LeasePart
from lease_scheduler.cloud.nova.names import Labels
from lease_scheduler.cloud.nova.nodes import Nodes
from lease_scheduler.cloud.nova.placement import Placement
from lease_scheduler.cloud.nova.servers import Servers
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.nova import aggregates as metadata

LOG = logging.getLogger(__name__)

#: Gives the aggregate of a name, None if there is none.
FindAggregate = Callable[[str], Aggregate | None]

#: Of the aggregates of a lease: that those of its reservations are made, too.
_MADE = "lease:blazar"

#: Of an aggregate that Blazar has made.
_ADOPTED = "lease:adopted"

#: By which Nova's own filter keeps other projects' servers away.
_FILTER_TENANT = "filter_tenant_id"

#: What Nova says of a host that is in another availability zone for good.
_IN_ANOTHER_ZONE = "already in availability zone"


@dataclass(frozen=True)
class BlazarOptions:
    """What an operator sets for Blazar's clients.

    :ivar profile: whether things are made as Blazar makes them, for leases that do not give way
    :ivar deletes_preemptible: whether servers of a preemptible flavor are deleted, and not shelved, on hosts that a
        lease takes as a whole
    :ivar saves_by_default: whether images are made before the end of reservations of hosts that leave that to the
        operator
    """

    profile: bool = False
    deletes_preemptible: bool = False
    saves_by_default: bool = False


class Reservations:
    """See the module."""

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

    # -- what there is, and what it is called ----------------------------------------------------------------

    def _is_made(self, order: Order, find: FindAggregate | None = None) -> bool:
        """Whether the profile is for a lease: one that gives way has what Blazar does not know.

        That does not change while the lease lasts, whatever the operator sets meanwhile, unless somebody deletes what
        it is remembered by.
        """
        assert order.request is not None and order.operation is not None
        look = find or self._aggregates.find
        own = [aggregate for name in _own_names(order) if (aggregate := look(name)) is not None]
        if order.operation.kind is OperationKind.START or not own:
            return self._options.profile and not order.request.preemptible
        return any(metadata.is_true(aggregate.metadata.get(_MADE)) for aggregate in own)

    def parts(self, order: Order, find: FindAggregate | None = None) -> list[tuple[LeasePart, Aggregate | None]]:
        """The reservations that have an aggregate of their own, or are to have one.

        :param find: gives aggregates by their names; None to ask Nova
        """
        look = find or self._aggregates.find
        found = [(part, look(part.reservation_id)) for part in lease_parts.parts(order)]
        return [(part, aggregate) for part, aggregate in found if aggregate is not None or self._is_made(order, find)]

    def aggregate_ids(self, lease_id: str, reservations: Iterable[str]) -> dict[str, int]:
        """Return reservation of instances -> id of its aggregate: its own, or the one of the lease."""
        shared = names.aggregate(lease_id, exclusive=False)
        own = set(reservations)
        ids = self._aggregates.ids({*own, shared})
        found = {reservation_id: ids.get(reservation_id, ids.get(shared)) for reservation_id in own}
        return {reservation_id: number for reservation_id, number in found.items() if number is not None}

    def _named(self, known: Known) -> list[Aggregate]:
        found = (self._aggregates.find(reservation_id) for reservation_id in known.reservations)
        return [aggregate for aggregate in found if aggregate is not None]

    def taken_out(self) -> frozenset[str]:
        """Compute services that are not in the pool's aggregate for as long as they are reserved."""
        if not self._options.profile:
            return frozenset()
        reserved = (each.hosts for each in self._aggregates.all() if NAMED_BY in each.metadata and each.zone)
        return frozenset[str]().union(*reserved)

    def labels(self, order: Order, find: FindAggregate | None = None) -> dict[int, Labels]:
        """How flavor and slots of each node set of a lease are called.

        :param find: gives aggregates by their names; None to ask Nova
        """
        assert order.request is not None
        found = {number: names.labels(order.lease_id, number) for number in range(len(order.request.nodes))}
        for part, aggregate in self.parts(order, find):
            if part.has_whole_hosts:
                continue
            of_reservation = names.reservation_labels(part.reservation_id, part.server_group_id)
            for number in part.node_sets:
                if aggregate is not None and _is_adopted(aggregate):
                    # Blazar's own slots stay with the servers that are there already.
                    of_reservation = replace(of_reservation, slot_class=found[number].slot_class)
                found[number] = of_reservation
        return found

    def claims(self, order: Order, find: FindAggregate | None = None) -> Counter[tuple[int, str]]:
        """Node set and host -> servers that Blazar let in and that claim for themselves what they need.

        :param find: gives aggregates by their names; None to ask Nova
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
        """Servers that are on hosts of reservations, or were made with their flavors; Blazar takes them as theirs."""
        found: dict[str, Any] = {}
        for aggregate in self._named(known):
            if aggregate.zone is None:
                found |= {each.id: each for each in self._servers.find(flavor=aggregate.name)}
            for service in sorted(aggregate.hosts) if aggregate.zone is not None else ():
                here = self._servers.find(host=service)
                found |= {each.id: each for each in here if of.made_for(each) in (None, known.lease_id)}
        return list(found.values())

    # -- from the start to the end ---------------------------------------------------------------------------

    def describe(self, order: Order, *, exactly: bool, is_new: bool = False) -> None:
        """The aggregates are there; those of instances have their hosts, and none has hosts that are not planned.

        :param exactly: whether hosts that are not planned any more are left
        :param is_new: whether nothing remembered the lease before
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
        """Hosts that come into another availability zone have no servers at all any more; whether that is so.

        :param shelve: has servers of other leases that stayed there when they made room shelved; whether they are
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
        """The hosts that are reserved as a whole have left the pool for the aggregate of their reservation.

        :raises StepFailedError: one of them has another availability zone
        """
        assert order.operation is not None
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
                # Not before, so that at no time nobody has it.
                self._freepool.take_out(services - refused.keys())
            # What runs on a new host of a running lease keeps running there.
            is_over &= not refused or order.operation.kind is OperationKind.ADJUST
        return is_over

    def say_begin(self, reservations: Iterable[str], instant: str) -> None:
        """Change from when on servers may begin, as far as there are aggregates."""
        for reservation_id in reservations:
            self._aggregates.set_metadata(reservation_id, {metadata.FROM: instant})

    def leave(self, known: Known) -> bool:
        """The hosts are in the pool again; whether Nova let all of them go."""
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
            # Who looked between the two left them out of the pool.
            self._freepool.put_back(services - refused.keys())
        return not refused

    def remove(self, known: Known) -> None:
        """Nothing has the name of a reservation of the lease any more."""
        for aggregate in self._named(known):
            if aggregate.zone is None:
                self._flavors.remove([aggregate.name])
                # Blazar's providers have slots of its classes, which are not ours to remove.
                if not _is_adopted(aggregate):
                    self._placement.remove_class(names.reservation_class(aggregate.name))
            self._aggregates.remove(aggregate.name)


def said_by(order: Order, part: LeasePart) -> dict[str, str]:
    """What the aggregate of a reservation says, but for what changes while the lease runs."""
    assert order.document is not None
    said = lease_metadata(order, exclusive=part.has_whole_hosts)
    said |= {NAMED_BY: part.reservation_id, metadata.BLAZAR_OWNER: order.document.project_id}
    if not part.has_whole_hosts:
        said |= {metadata.BLAZAR_RESERVATION: part.reservation_id, _FILTER_TENANT: order.document.project_id}
        if part.server_group_id is not None:
            said[names.AFFINITY] = part.server_group_id
    return said


def _own_names(order: Order) -> tuple[str, str]:
    """The aggregates of a lease that do not have the name of a reservation."""
    return (names.aggregate(order.lease_id, exclusive=True), names.aggregate(order.lease_id, exclusive=False))


def _is_adopted(aggregate: Aggregate) -> bool:
    said: Mapping[str, str] = aggregate.metadata
    return NAMED_BY not in said or metadata.is_true(said.get(_ADOPTED))
