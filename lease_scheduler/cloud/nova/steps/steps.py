"""The steps of operations. Each call does what comes next, and returns whether the step is done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from lease_scheduler.cloud.driver import HostsOccupiedError, StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.addresses import Addresses
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.server import service
from lease_scheduler.cloud.nova.api.server_groups import ServerGroups
from lease_scheduler.cloud.nova.images import image_records
from lease_scheduler.cloud.nova.images.saving import Saving
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, NEVER, NONE, SAVED, Known, LeaseAggregates
from lease_scheduler.cloud.nova.lease.ends import Ends
from lease_scheduler.cloud.nova.lease.entered import Entered
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers, WantedServer
from lease_scheduler.cloud.nova.steps.holding import Holding
from lease_scheduler.cloud.nova.vacating.outliving import OutlivingServers
from lease_scheduler.cloud.nova.vacating.preemption import Place, ServerPreemption
from lease_scheduler.cloud.nova.vacating.vacancy import Vacancy
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.engine.interfaces import OperationKind, WaitingClock
from lease_scheduler.model.kinds import PreemptionMode

_STEPS = {
    OperationKind.START: ("aggregate", "vacate", "enter", "hold", "addresses", "lend", "boot", "open"),
    OperationKind.RESUME: (
        "move-off",
        "aggregate",
        "vacate",
        "enter",
        "hold",
        "addresses",
        "lend",
        "open",
        "bring-back",
    ),
    OperationKind.SUSPEND: ("close", "put-away", "leave", "release"),
    # Servers that are set apart stay until images of them are complete: the removal of the lease follows.
    OperationKind.STOP: ("close", "keep", "set-apart", "snapshot", "delete-servers", "leave", "release", "remove"),
    # Shelved servers are in the image store, which all hosts can read.
    OperationKind.MIGRATE: (),
    OperationKind.SNAPSHOT: ("image",),
    # Hosts are vacated twice. The first time is before the aggregates have them, so that the lease gets no host that is
    # not available. The second time clears servers that came in between.
    OperationKind.ADJUST: ("vacate", "join", "vacate", "enter", "hold", "lend", "open", "follow", "aggregate", "boot"),
}
_REMOVAL = ("close", "set-apart", "snapshot", "delete-servers", "leave", "release", "save", "remove")

#: Steps that wait only for servers. Nova notifies when these are ready.
ANNOUNCED = frozenset({"boot", "put-away", "bring-back"})

#: Values of ``on_end`` with which servers outlive the lease. An image is made of those that cannot.
_KEEP, _SHELVE = "keep", "shelve"

#: States of servers that may be set apart.
_STOPPED = frozenset({of.STOPPED, of.SUSPENDED})


class OperationSteps:
    """See the module.

    :param addresses: creates and deletes floating IPs
    :param end_trust: deletes a trust, if it exists
    """

    def __init__(
        self,
        clock: WaitingClock,
        entered: Entered,
        lease_aggregates: LeaseAggregates,
        ends: Ends,
        hosts: Hosts,
        nodes: Nodes,
        holding: Holding,
        reservations: Reservations,
        servers: Servers,
        preemption: ServerPreemption,
        outliving: OutlivingServers,
        saving: Saving,
        vacancy: Vacancy,
        addresses: Addresses,
        server_groups: ServerGroups,
        end_trust: Callable[[str], None],
    ) -> None:
        self._clock = clock
        self._entered = entered
        self._lease_aggregates = lease_aggregates
        self._ends = ends
        self._hosts = hosts
        self._nodes = nodes
        self._holding = holding
        self._reservations = reservations
        self._servers = servers
        self._preemption = preemption
        self._outliving = outliving
        self._saving = saving
        self._vacancy = vacancy
        self._addresses = addresses
        self._server_groups = server_groups
        self._end_trust = end_trust
        self._clearing: Mapping[str, Callable[[AnyOrder], bool]] = {
            "close": self._close,
            "set-apart": self._set_apart,
            "snapshot": self._snapshot,
            "save": self._save,
            "delete-servers": self._delete_servers,
            "leave": self._leave,
            "release": self._release,
            "remove": self._remove,
        }
        self._perform: Mapping[str, Callable[[Order], bool]] = {
            **self._clearing,
            "aggregate": self._aggregate,
            "vacate": self._vacate,
            "enter": reservations.enter,
            "hold": self._hold,
            "addresses": self._take_addresses,
            "lend": self._lend,
            "boot": self._boot,
            "open": self._open,
            "put-away": self._put_away,
            "bring-back": self._bring_back,
            "move-off": self._move_off,
            "join": self._join,
            "follow": self._follow,
            "keep": self._keep,
            "image": self._image,
        }

    @staticmethod
    def names(order: AnyOrder) -> tuple[str, ...]:
        """Return the steps of an order, in the order in which they are done."""
        return _REMOVAL if isinstance(order, Removal) else _STEPS[order.operation.kind]

    def perform(self, order: AnyOrder, name: str) -> bool:
        """Do a step. Return whether it is done.

        :raises StepFailedError: it cannot be done there
        """
        return self._clearing[name](order) if isinstance(order, Removal) else self._perform[name](order)

    def _late(self, order: Order) -> int:
        """Return the seconds since the planned end of an operation, negative before it."""
        return self._clock.now() - order.operation.due

    # -- hosts -----------------------------------------------------------------------------------------------

    def _aggregate(self, order: Order) -> bool:
        """Set the hosts of the aggregates to those of the plan, and release what is held on others."""
        known = self._lease_aggregates.known(order.lease_id)
        planned = self._planned(order)
        if known is not None:
            in_use = self._holding.leave(known, known.shared - planned[False])
            planned[False] |= in_use
        self._lease_aggregates.write(order, planned, known)
        self._reservations.describe(order, exactly=True, is_new=known is None)
        if order.operation.kind is OperationKind.ADJUST:
            self._ends.write(order.lease_id, _reservations(order))
        else:
            self._ends.open(order.lease_id, _reservations(order))
        return True

    def _join(self, order: Order) -> bool:
        """Add the hosts of the plan to the aggregates."""
        known = self._lease_aggregates.known(order.lease_id)
        planned = self._planned(order)
        if known is not None:
            planned = {True: planned[True] | known.exclusive, False: planned[False] | known.shared}
        self._lease_aggregates.write(order, planned, known)
        self._reservations.describe(order, exactly=False, is_new=known is None)
        self._ends.write(order.lease_id, _reservations(order))
        return True

    def remember(self, order: Order) -> None:
        """Restore the aggregate of a suspended lease, without which it could not be resumed."""
        known = self._lease_aggregates.known(order.lease_id)
        shared = frozenset[str]() if known is None else known.shared
        self._lease_aggregates.write(order, {True: frozenset(), False: shared}, known)
        self._lease_aggregates.leave(order.lease_id, SAVED, shared)
        self._lease_aggregates.set_begin(order.lease_id, NEVER)

    def _planned(self, order: Order) -> dict[bool, frozenset[str]]:
        """Return the compute services that a lease should have for itself (True) and share (False)."""
        found = lease_parts.vms(order)
        return {
            exclusive: self._nodes.services(lease_parts.hosts(found, exclusive=exclusive))
            for exclusive in (True, False)
        }

    def _vacate(self, order: Order) -> bool:
        """Free the hosts that the lease has for itself of other servers."""
        hosts = lease_parts.hosts(lease_parts.vms(order), exclusive=True)
        if not hosts:
            return True
        late = self._late(order)
        self._vacancy.note(order.lease_id)
        try:
            if not self._reservations.clear(order, self._nodes.services(hosts), lambda each: self._shelve(each, late)):
                return False
        except StepFailedError as error:
            if error.host is None:
                raise
            raise HostsOccupiedError({error.host: [str(error)]}) from error
        # A lease that runs has servers there.
        own = order.document.project_id if order.operation.kind is OperationKind.ADJUST else None
        leaving, apart = self._leaving(order.lease_id), self._apart_from(order.lease_id)
        vacated, occupied = [], {}
        # All hosts in each call, because one after the other would take much longer.
        for host in sorted(hosts):
            place = Place(host, self._nodes.node(host).service)
            try:
                vacated.append(self._preemption.vacate(place, order.lease_id, own, leaving, apart, late))
            except HostsOccupiedError as error:
                occupied.update(error.servers)
        if occupied:
            raise HostsOccupiedError(occupied)
        if own is not None or not all(vacated):
            # While the lease runs, servers may always be on their way to its hosts: its own.
            return all(vacated)
        providers = {host: self._nodes.node(host).provider_id for host in sorted(hosts)}
        gives_up = self._preemption.is_patience_over(late)
        return self._vacancy.is_certain(order.lease_id, providers, gives_up=gives_up)

    def _leaving(self, lease_id: str) -> frozenset[tuple[str, str]]:
        """Return the compute services that other leases still have for themselves, with the leases' projects."""
        others = (known for known in self._lease_aggregates.all().values() if known.lease_id != lease_id)
        return frozenset((service, known.project_id) for known in others for service in known.exclusive)

    def _hold(self, order: Order) -> bool:
        return self._holding.hold(order, self._clock.now() - order.operation.begun)

    def _lend(self, order: Order) -> bool:
        """Let the servers of the lease claim its devices, once nova-scheduler keeps those of others off."""
        if not lease_parts.nested_classes(lease_parts.vms(order)):
            return True
        if not self._vacancy.is_heard(order.lease_id):
            return False
        self._holding.lend(order)
        return True

    def _shelve(self, servers: Collection[Any], late: int) -> bool:
        return self._preemption.put_away(servers, PreemptionMode.SHELVE, late)

    def _leave(self, order: AnyOrder) -> bool:
        """Move the hosts back to the aggregate and zone that they have without a reservation."""
        known = self._lease_aggregates.known(order.lease_id)
        return known is None or self._reservations.leave(known)

    def _release(self, order: AnyOrder) -> bool:
        """Release the hosts and floating IPs of the lease."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        if known.addresses:
            self._addresses.remove(order.lease_id)
        in_use = self._holding.leave(known, known.shared)
        is_suspended = isinstance(order, Order) and order.operation.kind is OperationKind.SUSPEND
        if in_use and not is_suspended:
            # Nova has not released yet what deleted servers had.
            return False
        self._lease_aggregates.leave(order.lease_id, SAVED if is_suspended else NONE, in_use)
        return True

    def _remove(self, order: AnyOrder) -> bool:
        """Remove all of the lease, apart from what it needs if it starts once more."""
        known = self._lease_aggregates.known(order.lease_id)
        if isinstance(order, Order) and self._saving.apart(order.lease_id):
            # The removal that follows needs what is known about the lease.
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

    def _take_addresses(self, order: Order) -> bool:
        """Give the project the floating IPs of the lease."""
        for found in lease_parts.addresses(order):
            self._addresses.ensure(
                order.lease_id, found.reservation_id, found.network_id, found.address, order.document.project_id
            )
        return True

    # -- when servers may start ------------------------------------------------------------------------------

    def _open(self, order: Order) -> bool:
        """Let servers of the lease start at its start or later."""
        # The filter compares the start with its own clock, so hosts that are ready early are not used early.
        self._set_begin(order, str(order.start), ACTIVE)
        return True

    def _close(self, order: AnyOrder) -> bool:
        """Let no server of the lease start any more."""
        self._set_begin(order, NEVER)
        # nova-scheduler learns of that a moment later.
        self._vacancy.note_end(order.lease_id)
        return True

    def _set_begin(self, order: AnyOrder, instant: str, servers: str | None = None) -> None:
        known = self._lease_aggregates.known(order.lease_id)
        if known is not None:
            self._reservations.set_begin(known.reservations, instant)
        self._lease_aggregates.set_begin(order.lease_id, instant, servers)

    # -- servers ---------------------------------------------------------------------------------------------

    def _boot(self, order: Order) -> bool:
        """Boot the servers of a managed lease."""
        if not order.document.servers:
            return True
        # The filter admits servers of the lease only after its start, so the start is set to 0 now.
        self._set_begin(order, "0")
        wanted = wanted_servers(order, self._reservations.labels(order))
        if order.operation.kind is OperationKind.ADJUST:
            present = {of.number(each) for each in self._servers.find(tags=names.tag(order.lease_id))}
            if any(each.number not in present for each in wanted):
                given_up = self._servers.given_up(order.lease_id, order.document.project_id)
                wanted = [each for each in wanted if each.number in present or each.name not in given_up]
        return self._servers.boot(order.lease_id, wanted, order.document.trust_id, order.intent_id)

    def _put_away(self, order: Order) -> bool:
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        before = self._servers.restorable(known)
        found = self._servers_of(known)
        # Servers found by a host that the lease has for itself leave that host, so they need the tag.
        self._servers.mark(found, order.lease_id)
        services = self._planned_services(order)
        are_away = self._preemption.put_lease_away(found, services, order.request.preemption_mode, self._late(order))
        # A server may be restored, or deleted, after one list was read and before the other one is.
        return self._servers.delete(self._servers.restorable(known)) and are_away and not before

    def _move_off(self, order: Order) -> bool:
        """Shelve servers that stayed on a host where they are not planned any more. They would resume there."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        planned = self._planned_services(order)
        elsewhere = [each for each in self._servers_of(known) if service(each) not in (None, *planned)]
        return self._preemption.put_away(elsewhere, PreemptionMode.SHELVE, self._late(order), must_leave=True)

    def _bring_back(self, order: Order) -> bool:
        known = self._lease_aggregates.known(order.lease_id)
        return known is None or self._preemption.bring_back(
            self._servers_of(known),
            self._services_by_number(order),
            self._planned_services(order),
            order.document.trust_id,
        )

    def _services_by_number(self, order: Order) -> dict[int, str]:
        """Return the number of each server of a lease and the compute service that is planned for it."""
        places = [(number, vm.host) for number, vm in lease_parts.places(order) if vm.host not in order.without]
        return {number: self._nodes.node(host).service for number, host in places}

    def _planned_services(self, order: Order) -> frozenset[str]:
        return self._nodes.services(vm.host for vm in lease_parts.vms(order))

    def _follow(self, order: Order) -> bool:
        """Move the servers of the lease to its hosts."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None:
            return True
        services, planned = self._planned_services(order), self._services_by_number(order)
        before = self._restorable_elsewhere(known, services)
        are_there = self._preemption.follow(
            self._servers_of(known), services, planned, self._hosts.is_up, self._late(order), order.document.trust_id
        )
        return self._servers.delete(self._restorable_elsewhere(known, services)) and are_there and not before

    def _restorable_elsewhere(self, known: Known, services: Collection[str]) -> list[Any]:
        return [each for each in self._servers.restorable(known) if service(each) not in services]

    def _keep(self, order: Order) -> bool:
        """Detach the servers that outlive the lease."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None or order.document.on_end not in (_KEEP, _SHELVE):
            return True
        found = self._servers_of(known)
        # A server that was resized is not found by its flavor or its host any more.
        self._servers.mark(found, order.lease_id)
        waited, trust_id = self._clock.now() - order.operation.begun, order.document.trust_id
        return self._outliving.keep(found, known.exclusive, waited, trust_id, shelved=order.document.on_end == _SHELVE)

    def _set_apart(self, order: AnyOrder) -> bool:
        """Stop the servers of which the lease wants images, so that the next lease can have their hosts."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None or not self._saving.is_wanted(order) or self._reservations.have_zones(known):
            # Nova gives no host another availability zone while there are servers on it, so the images come first.
            return True
        return self._saving.set_apart(order, self._servers_of(known))

    def _save(self, order: AnyOrder) -> bool:
        """Make the images of servers that were set apart, and delete these servers."""
        apart = self._saving.apart(order.lease_id)
        found = [each for server_id in sorted(apart) for each in self._servers.find(uuid=server_id)]
        return self._saving.finish_apart(order, found) and self._servers.delete(found)

    def _snapshot(self, order: AnyOrder) -> bool:
        """Make the images that the lease wants at its end, also of servers that could not outlive it."""
        known = self._lease_aggregates.known(order.lease_id)
        if known is None or not self._saving.is_wanted(order):
            return True
        return self._saving.finish(order, self._servers_of(known))

    def _image(self, order: Order) -> bool:
        """Begin the images that the lease wants before its end."""
        known = self._lease_aggregates.known(order.lease_id)
        return known is None or self._saving.begin(order, self._servers_of(known))

    def _delete_servers(self, order: AnyOrder) -> bool:
        known = self._lease_aggregates.known(order.lease_id)
        before: list[Any] = []
        if known is None:
            found = self._servers.of(order.lease_id, 0)
        else:
            before = self._servers.restorable(known)
            # A server that Nova has just placed would arrive after the hosts were released.
            found = self._servers_of(known)
            found += self._entered.on_their_way(known, found)
            found += self._servers.restorable(known)
            apart = self._saving.apart(order.lease_id)
            found = [each for each in found if each.id not in apart]
        self._preemption.forget(found)
        # A server may be restored, or deleted, after one list was read and before the other one is.
        are_gone = self._servers.delete(found) and not before
        may_come = known is not None and bool(known.exclusive) and not known.managed
        return are_gone and (not may_come or self._vacancy.is_end_heard(order.lease_id))

    def _servers_of(self, known: Known) -> list[Any]:
        own = self._servers.of(known.lease_id, known.node_sets, known.exclusive, known.project_id)
        own += self._reservations.servers_of(known) + self._entered.by_hint(known)
        found = {each.id: each for each in own}
        stopped = [each for each in own if each.status in _STOPPED and of.made_for(each) is None]
        if stopped:
            # Servers of an earlier lease of the project may still be there, and its guests that made room.
            tag = names.tag(known.lease_id)
            guests = {
                each.id for each in stopped if tag not in of.tags(each) and self._preemption.is_guest_put_away(each)
            }
            for server_id in guests | self._apart_from(known.lease_id):
                found.pop(server_id, None)
        return list(found.values())

    def _apart_from(self, lease_id: str) -> frozenset[str]:
        """Return the servers that other leases have set apart on hosts that they do not have any more."""
        others = (known for known in self._lease_aggregates.all().values() if known.lease_id != lease_id)
        return frozenset(server_id for known in others for server_id in image_records.apart(known.images))


def _reservations(order: Order) -> list[str]:
    return [each.reservation_id for each in order.document.reservations]


def wanted_servers(order: Order, labels: Mapping[int, Labels]) -> list[WantedServer]:
    """Return the servers of a managed lease: each template as often as it states, on the VMs of its node set."""
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
