"""The driver: what each step of an operation is on a real OpenStack."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.cloud.driver import (
    DriverEvent,
    Flavor,
    Footprint,
    Hypervisor,
    Order,
    StepFailedError,
    WaitingClock,
)
from lease_scheduler.cloud.nova import names, needs
from lease_scheduler.cloud.nova.aggregates import Aggregate, Aggregates
from lease_scheduler.cloud.nova.flavors import FlavorCatalogue, LeaseFlavors
from lease_scheduler.cloud.nova.guests import Guests
from lease_scheduler.cloud.nova.hosts import Hosts, Node
from lease_scheduler.cloud.nova.placement import NoRoomError, Placement
from lease_scheduler.cloud.nova.preemption import Preemption, PreemptionOptions
from lease_scheduler.cloud.nova.server import service
from lease_scheduler.cloud.nova.servers import Servers, Wanted
from lease_scheduler.cloud.nova.throttle import Throttle
from lease_scheduler.cloud.nova.watcher import Watcher
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.lease import PreemptionMode
from lease_scheduler.nova import aggregates as metadata

LOG = logging.getLogger(__name__)

#: Seconds after which something that is not over yet is looked at again.
_ASK_AGAIN = 1

_STEPS = {
    OperationKind.START: ("aggregate", "vacate", "hold", "boot", "open"),
    OperationKind.RESUME: ("move-off", "aggregate", "vacate", "hold", "open", "bring-back"),
    OperationKind.SUSPEND: ("close", "put-away", "release"),
    OperationKind.STOP: ("close", "snapshot", "delete-servers", "release", "remove"),
    # What is shelved is in the image store, from where every host gets it.
    OperationKind.MIGRATE: (),
    OperationKind.ADJUST: ("join", "hold", "open", "follow", "aggregate", "boot"),
}
_DISCARD = ("close", "delete-servers", "release", "remove")

#: Of the aggregate: how many node sets and VMs the lease has or had, whether its servers are booted by us, and what
#: they are now.
_NODE_SETS = "lease:node_sets"
_VMS = "lease:vms"
_MANAGED = "lease:managed"
_SERVERS = "lease:servers"
_USER_ID = "lease:user_id"
_TRUST_ID = "lease:trust_id"

_ACTIVE, _SAVED, _NONE = "active", "saved", "none"

#: Modes of preemption in which servers stay on their hosts.
_STAYING = frozenset({PreemptionMode.STOP, PreemptionMode.SUSPEND})

#: What may become of servers at the end of a lease.
_DELETE, _SNAPSHOT = "delete", "snapshot"

#: Later than any lease begins.
_NEVER = str(2**40)


@dataclass(frozen=True)
class _Known:
    """What the aggregates of a lease remember of it."""

    lease_id: str
    project_id: str
    user_id: str
    trust_id: str | None
    node_sets: int
    vms: int
    managed: bool
    servers: str
    exclusive: frozenset[str]
    shared: frozenset[str]


@dataclass(frozen=True)
class DriverOptions:
    """What an operator sets.

    :ivar operations: servers that are put away, brought back or moved at the same time at most
    :ivar operations_per_host: the same on one host
    :ivar boot_timeout: seconds after which a server that is not there yet has failed
    """

    operations: int = 20
    operations_per_host: int = 4
    boot_timeout: int = 600
    preemption: PreemptionOptions = field(default_factory=PreemptionOptions)


_DEFAULTS = DriverOptions()

#: Makes a watcher of the hosts, given the flavors, whether a lease is managed, and the names of the hosts of the pool.
MakeWatcher = Callable[[Hosts, FlavorCatalogue, Callable[[str], bool], Callable[[], Collection[str]]], Watcher]


class NovaDriver:
    """See ``cloud.driver.Driver``.

    :param clock: tells the time, and when to look again
    :param nova: novaclient's client, of an administrator
    :param nova_with_facts: the same with a compute API that tells the facts of hypervisors
    :param on_behalf_of: gives a client that acts for the consumer who gave a trust
    :param end_trust: removes a trust, if it is there
    :param watch_interval: real seconds between two looks at what happens by itself
    :param freepool: name of the aggregate of all hosts that leases may use
    :param options: what else the operator set
    :param make_watcher: makes what watches the cloud; none to look at services and deleted servers only
    """

    def __init__(
        self,
        clock: WaitingClock,
        nova: Any,
        nova_with_facts: Any,
        placement: Placement,
        on_behalf_of: Callable[[str | None], Any],
        end_trust: Callable[[str], None],
        watch_interval: float,
        freepool: str,
        options: DriverOptions = _DEFAULTS,
        make_watcher: MakeWatcher | None = None,
    ) -> None:
        self._clock = clock
        self._placement = placement
        self._end_trust = end_trust
        self._freepool = freepool
        self._aggregates = Aggregates(nova)
        self._flavors = flavors = FlavorCatalogue(nova)
        self._lease_flavors = LeaseFlavors(nova)
        self._hosts = hosts = Hosts(nova_with_facts, placement)
        self._servers = Servers(nova, on_behalf_of, options.boot_timeout)
        throttle = Throttle(options.operations_per_host, options.operations)
        self._guests = Guests(nova, self._servers.find, throttle)
        self._preemption = Preemption(nova, self._servers.find, self._guests, throttle, options.preemption)
        self._pool: frozenset[str] = frozenset()
        self._watcher = (
            Watcher(nova, hosts, flavors, self._is_managed, watch_interval)
            if make_watcher is None
            else make_watcher(hosts, flavors, self._is_managed, lambda: self._pool)
        )
        self._perform: Mapping[str, Callable[[Order], bool]] = {
            "aggregate": self._aggregate,
            "vacate": self._vacate,
            "hold": self._hold,
            "boot": self._boot,
            "open": self._open,
            "close": self._close,
            "put-away": self._put_away,
            "bring-back": self._bring_back,
            "move-off": self._move_off,
            "join": self._join,
            "follow": self._follow,
            "snapshot": self._snapshot,
            "delete-servers": self._delete_servers,
            "release": self._release,
            "remove": self._remove,
        }

    def steps(self, operation: Operation | None) -> tuple[str, ...]:
        """See ``Driver.steps``."""
        return _DISCARD if operation is None else _STEPS[operation.kind]

    def perform(self, order: Order, step: str) -> int | None:
        """See ``Driver.perform``."""
        return None if self._perform[step](order) else self._clock.now() + _ASK_AGAIN

    def hypervisors(self, names: Collection[str] | None = None) -> Iterable[Hypervisor]:
        """See ``Driver.hypervisors``."""
        return self._hosts.describe(names)

    def set_pool(self, names: Collection[str]) -> None:
        """See ``Driver.set_pool``: the filter keeps others off the hosts of this aggregate."""
        self._pool = frozenset(names)
        found = (self._hosts.node(name) for name in names)
        self._aggregates.ensure(self._freepool, {metadata.POOL: "true"}, [node.service for node in found if node])

    def pool(self) -> frozenset[str]:
        """See ``Driver.pool``: whoever put them into the aggregate."""
        found = self._aggregates.find(self._freepool)
        return frozenset() if found is None else self._nodes_of(found.hosts)

    def flavors(self) -> Mapping[str, Flavor]:
        """See ``Driver.flavors``."""
        return self._flavors

    def ends(self) -> frozenset[str]:
        """See ``Driver.ends``: what is kept would have no flavor with which Nova could ever place it again."""
        return frozenset({_DELETE, _SNAPSHOT})

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """See ``Driver.start``."""
        if observer is None:
            self._watcher.start(on_event, regularly=self._guests.bring_back)
            return
        self._watcher.start(
            on_event,
            regularly=self._guests.bring_back,
            on_server=observer.on_server,
            on_hosts=observer.on_hosts,
            on_aggregate=observer.on_aggregate,
            on_stranger=observer.on_stranger,
        )

    def stop(self) -> None:
        """See ``Driver.stop``."""
        self._watcher.stop()

    def _is_managed(self, lease_id: str) -> bool:
        known = self._known(lease_id)
        return known is not None and known.managed and known.servers == _ACTIVE

    # -- what exists -----------------------------------------------------------------------------------------

    def footprints(self) -> list[Footprint]:
        """See ``Driver.footprints``."""
        by_lease: dict[str, list[Aggregate]] = {}
        for aggregate in self._aggregates.all():
            lease_id = aggregate.metadata.get(metadata.LEASE_ID)
            if lease_id is not None:
                by_lease.setdefault(lease_id, []).append(aggregate)
        servers = self._servers.by_tag()
        found = []
        for lease_id in by_lease.keys() | servers.keys():
            known = self._known_from(lease_id, by_lease.get(lease_id, []))
            state = known.servers if known is not None else _ACTIVE
            if (known is None or known.managed) and not servers.get(lease_id):
                state = _NONE
            hosts = known.exclusive | known.shared if known is not None else frozenset()
            found.append(Footprint(lease_id, state, self._nodes_of(hosts)))
        return found

    def _known(self, lease_id: str) -> _Known | None:
        found = [
            aggregate
            for exclusive in (True, False)
            if (aggregate := self._aggregates.find(names.aggregate(lease_id, exclusive=exclusive))) is not None
        ]
        return self._known_from(lease_id, found)

    def _known_from(self, lease_id: str, found: list[Aggregate]) -> _Known | None:
        if not found:
            return None
        said = found[0].metadata
        hosts: dict[bool, frozenset[str]] = {True: frozenset(), False: frozenset()}
        for aggregate in found:
            hosts[metadata.is_true(aggregate.metadata.get(metadata.EXCLUSIVE))] |= aggregate.hosts
        return _Known(
            lease_id,
            said.get(metadata.PROJECT_ID, ""),
            said.get(_USER_ID, ""),
            said.get(_TRUST_ID),
            int(said.get(_NODE_SETS, 0)),
            int(said.get(_VMS, 0)),
            metadata.is_true(said.get(_MANAGED)),
            said.get(_SERVERS, _NONE),
            hosts[True],
            hosts[False],
        )

    def _nodes_of(self, services: Iterable[str]) -> frozenset[str]:
        by_service = self._hosts.services()
        return frozenset(by_service.get(service, service) for service in services)

    # -- steps: each gives whether it is done ----------------------------------------------------------------

    def _aggregate(self, order: Order) -> bool:
        """The aggregates have the hosts of the plan; what was held on others is given back."""
        assert order.request is not None and order.document is not None
        if order.document.on_end not in (_DELETE, _SNAPSHOT):
            raise StepFailedError(
                f"on_end: {order.document.on_end} is not possible on Nova yet; take snapshot or delete"
            )
        found = needs.vms(order)
        known = self._known(order.lease_id)
        planned = {exclusive: self._services(needs.hosts(found, exclusive=exclusive)) for exclusive in (True, False)}
        if known is not None:
            in_use = self._leave(known, known.shared - planned[False])
            planned[False] |= in_use
        self._write(order, planned, known)
        return True

    def _join(self, order: Order) -> bool:
        """The aggregates have the hosts of the plan beside those that the lease has now."""
        found = needs.vms(order)
        known = self._known(order.lease_id)
        planned = {exclusive: self._services(needs.hosts(found, exclusive=exclusive)) for exclusive in (True, False)}
        if known is not None:
            planned = {True: planned[True] | known.exclusive, False: planned[False] | known.shared}
        self._write(order, planned, known)
        return True

    def _write(self, order: Order, planned: Mapping[bool, frozenset[str]], known: _Known | None) -> None:
        """Have the aggregates of a lease say what it is, with these hosts.

        :param planned: of its own, and shared with others: names of compute services
        """
        assert order.request is not None and order.document is not None
        vms = len(needs.vms(order))
        for exclusive, services in planned.items():
            name = names.aggregate(order.lease_id, exclusive=exclusive)
            # A lease without hosts is remembered too.
            if not services and not (exclusive and not planned[False]):
                self._aggregates.remove(name)
                continue
            said = {
                metadata.LEASE_ID: order.lease_id,
                metadata.PROJECT_ID: order.document.project_id,
                metadata.KIND: order.request.kind.value,
                metadata.EXCLUSIVE: str(exclusive).lower(),
                metadata.UNTIL: str(order.until),
                _USER_ID: order.document.user_id,
                _NODE_SETS: str(len(order.request.nodes)),
                _VMS: str(max(vms, 0 if known is None else known.vms)),
                metadata.VACATED_FROM: "0",
                _MANAGED: str(bool(order.document.servers)).lower(),
            }
            if order.document.trust_id is not None:
                said[_TRUST_ID] = order.document.trust_id
            if known is None:
                # Nobody gets in before everything is there.
                said |= {metadata.FROM: _NEVER, _SERVERS: _NONE}
            self._aggregates.ensure(name, said, services)

    def _services(self, hosts: Iterable[str]) -> frozenset[str]:
        return frozenset(self._node(host).service for host in hosts)

    def _node(self, host: str) -> Node:
        found = self._hosts.node(host)
        if found is None:
            raise StepFailedError(f"there is no compute host {host}", host)
        return found

    def _vacate(self, order: Order) -> bool:
        """Nobody else is on the hosts that the lease has for itself; who gives way is shelved."""
        hosts = needs.hosts(needs.vms(order), exclusive=True)
        # One after the other would take as many times as long.
        late = self._late(order)
        vacated = [
            self._preemption.vacate(host, self._node(host).service, order.lease_id, late) for host in sorted(hosts)
        ]
        return all(vacated)

    def _late(self, order: Order) -> int:
        """Seconds since an operation should have been over, negative if it still has time."""
        assert order.operation is not None
        return self._clock.now() - order.operation.due

    def _hold(self, order: Order) -> bool:
        """What the lease shares hosts for is held, and there is a slot for each of its servers."""
        assert order.request is not None and order.document is not None
        found = needs.vms(order)
        slots = needs.slots(found, order.lease_id)
        shared = [vm for vm in found if not vm.has_whole_host]
        try:
            for vm in shared:
                self._placement.hold(
                    names.consumer(order.lease_id, vm.number),
                    {self._node(vm.host).provider_id: needs.held(vm)},
                    order.document.project_id,
                    order.document.user_id,
                )
        except NoRoomError as error:
            LOG.info("lease %s waits for capacity on its hosts: %s", order.lease_id, error)
            runs_already = order.operation is not None and order.operation.kind is OperationKind.ADJUST
            # Somebody else has not given it back yet; what is held elsewhere might be what he waits for.
            for vm in [] if runs_already else shared:
                self._placement.release(names.consumer(order.lease_id, vm.number))
            for host in sorted({vm.host for vm in shared}):
                self._make_room(order, [vm for vm in shared if vm.host == host])
            return False
        for name in sorted({name for of_host in slots.values() for name in of_host}):
            self._placement.ensure_class(name)
        for host, totals in slots.items():
            provider_id = names.slots_provider_id(order.lease_id, host)
            name = names.slots_provider(order.lease_id, host)
            self._placement.ensure_slots(provider_id, name, self._node(host).provider_id, totals)
        for number, node_set in enumerate(order.request.nodes):
            is_whole = any(vm.node_set == number and vm.has_whole_host for vm in found)
            if any(vm.node_set == number for vm in found) and (order.document.servers or not is_whole):
                self._lease_flavors.ensure(
                    order.lease_id,
                    number,
                    node_set.resources,
                    order.document.project_id,
                    shared=not is_whole,
                    claims=is_whole and order.request.preemption_mode not in _STAYING,
                )
        return True

    def _make_room(self, order: Order, vms: Sequence[needs.Vm]) -> None:
        """Have guests go from a host that has no room for these VMs at present."""
        node = self._node(vms[0].host)
        needed: Counter[str] = Counter()
        for vm in vms:
            needed.update(needs.held(vm))
        if not self._placement.has_room(node.provider_id, needed) and not self._guests.make_room(node.service):
            LOG.info("lease %s: nobody on host %s gives way", order.lease_id, node.name)

    def _open(self, order: Order) -> bool:
        """The consumer's own servers may begin."""
        # The filter looks at its own clock: what is made ready ahead is not used ahead.
        self._say(order.lease_id, {metadata.FROM: str(order.start), _SERVERS: _ACTIVE})
        return True

    def _close(self, order: Order) -> bool:
        """No server of the lease may begin any more."""
        self._say(order.lease_id, {metadata.FROM: _NEVER})
        return True

    def _say(self, lease_id: str, said: Mapping[str, str]) -> None:
        for exclusive in (True, False):
            self._aggregates.set_metadata(names.aggregate(lease_id, exclusive=exclusive), said)

    def _boot(self, order: Order) -> bool:
        """The servers of a managed lease run."""
        assert order.document is not None
        if not order.document.servers:
            return True
        # The filter lets the servers of the lease in when it has begun.
        self._say(order.lease_id, {metadata.FROM: "0"})
        wanted = _wanted(order)
        return self._servers.boot(order.lease_id, wanted, order.document.trust_id)

    def _put_away(self, order: Order) -> bool:
        known = self._known(order.lease_id)
        if known is None:
            return True
        assert order.request is not None
        found = self._servers_of(known)
        # Those on hosts of the lease's own are found by the host, where they are not any more afterwards.
        self._servers.mark(found, order.lease_id)
        return self._preemption.put_away(found, order.request.preemption_mode, self._late(order))

    def _move_off(self, order: Order) -> bool:
        """What stayed on a host where it is not planned any more is shelved, or it would begin there again."""
        known = self._known(order.lease_id)
        if known is None:
            return True
        planned = self._planned_services(order)
        elsewhere = [each for each in self._servers_of(known) if service(each) not in (None, *planned)]
        return self._preemption.put_away(elsewhere, PreemptionMode.SHELVE, self._late(order))

    def _bring_back(self, order: Order) -> bool:
        known = self._known(order.lease_id)
        if known is None:
            return True
        return self._preemption.bring_back(self._servers_of(known))

    def _planned_services(self, order: Order) -> frozenset[str]:
        return self._services(vm.host for vm in needs.vms(order))

    def _follow(self, order: Order) -> bool:
        """The servers of the lease are on its hosts."""
        known = self._known(order.lease_id)
        if known is None:
            return True
        return self._preemption.follow(self._servers_of(known), self._planned_services(order), self._hosts.is_up)

    def _snapshot(self, order: Order) -> bool:
        """Nothing is lost that the consumer does not want to be lost, whatever else he wanted."""
        known = self._known(order.lease_id)
        if known is None or order.document is None or order.document.on_end == _DELETE:
            return True
        return self._servers.snapshot(self._servers_of(known))

    def _delete_servers(self, order: Order) -> bool:
        known = self._known(order.lease_id)
        if known is None:
            return self._servers.delete(self._servers.of(order.lease_id, 0))
        return self._servers.delete(self._servers_of(known))

    def _servers_of(self, known: _Known) -> list[Any]:
        return self._servers.of(known.lease_id, known.node_sets, known.exclusive, known.project_id)

    def _release(self, order: Order) -> bool:
        """The hosts are others' again."""
        known = self._known(order.lease_id)
        if known is None:
            return True
        in_use = self._leave(known, known.shared)
        is_suspended = order.operation is not None and order.operation.kind is OperationKind.SUSPEND
        if in_use and not is_suspended:
            # Nova has not given back yet what deleted servers had.
            return False
        said = {_SERVERS: _SAVED if is_suspended else _NONE, metadata.VACATED_FROM: _NEVER}
        for exclusive in (True, False):
            name = names.aggregate(order.lease_id, exclusive=exclusive)
            if self._aggregates.find(name) is not None:
                self._aggregates.ensure(name, said, () if exclusive else in_use)
        return True

    def _leave(self, known: _Known, services: Iterable[str]) -> frozenset[str]:
        """Hold nothing of a lease on some hosts any more, and have no slots there.

        :return: compute services on which servers that are switched off or suspended still have their slots
        """
        consumers = {names.consumer(known.lease_id, number) for number in range(known.vms)}
        in_use = set()
        for host in self._nodes_of(services):
            node = self._node(host)
            for consumer in consumers & self._placement.consumers_on(node.provider_id).keys():
                self._placement.release(consumer)
            try:
                self._placement.remove_provider(names.slots_provider_id(known.lease_id, host))
            except NoRoomError:
                in_use.add(node.service)
        return frozenset(in_use)

    def _remove(self, order: Order) -> bool:
        """Nothing of the lease is left."""
        known = self._known(order.lease_id)
        if known is not None:
            if known.trust_id is not None:
                self._end_trust(known.trust_id)
            self._lease_flavors.remove(order.lease_id, known.node_sets)
            for number in range(known.node_sets):
                self._placement.remove_class(names.slot_class(order.lease_id, number))
            for exclusive in (True, False):
                self._aggregates.remove(names.aggregate(order.lease_id, exclusive=exclusive))
        return True


def _wanted(order: Order) -> list[Wanted]:
    """The servers of a managed lease: each template as often as it says, on the VMs of its node set."""
    assert order.document is not None
    free: dict[int, list[needs.Vm]] = {}
    for vm in needs.vms(order):
        free.setdefault(vm.node_set, []).append(vm)
    wanted = []
    for template in order.document.servers:
        node_set = int(template.get("node_set", 0))
        count = int(template.get("count") or len(free.get(node_set, ())))
        here, free[node_set] = free.get(node_set, [])[:count], free.get(node_set, [])[count:]
        for position, vm in enumerate(here, start=1):
            name = template["name"] if len(here) == 1 else f"{template['name']}-{position}"
            flavor_id = names.flavor_id(order.lease_id, vm.node_set)
            wanted.append(Wanted(vm.number, name, template, flavor_id, vm.host))
    return wanted
