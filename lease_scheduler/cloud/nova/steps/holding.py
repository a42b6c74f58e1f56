"""Holding of parts of hosts: capacity in Placement, slots for the servers of a lease, and their flavors.

Servers claim devices of nested providers themselves, because hypervisors give them devices according to their claims.
So a lease holds devices only until its servers may start, and then lends them (``lend``). From then on, our filter in
nova-scheduler keeps other servers off, slots limit the servers of each lease, and other leases leave as many devices
free as there are slots without a server.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.devices import DeviceReader, Devices
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.api.nested import Stock
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import NoRoomError, Placement
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import Known
from lease_scheduler.cloud.nova.steps.order_flavors import OrderFlavors
from lease_scheduler.cloud.nova.steps.slots import Slots
from lease_scheduler.cloud.nova.vacating.guests import Guests
from lease_scheduler.cloud.nova.vacating.intruders import Intruders
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.providers import ProviderGroup, together

LOG = logging.getLogger(__name__)

#: Provider -> class -> amount.
Amounts = Mapping[str, Mapping[str, int]]


class LabelSource(Protocol):
    """Source of the names of a lease's flavors and slots, and of servers that claim for themselves."""

    def labels(self, order: Order) -> Mapping[int, Labels]:
        """Return the names of flavor and slots of each node set of a lease."""
        ...

    def claims(self, order: Order) -> Mapping[tuple[int, str], int]:
        """Return node set and compute host -> number of servers that themselves claim what they need."""
        ...


class Holding:
    """The holding of leases on hosts that they share.

    :param labels: tells the names of flavors and slots, and the servers for which nothing must be held
    """

    def __init__(
        self,
        placement: Placement,
        nodes: Nodes,
        devices: DeviceReader,
        guests: Guests,
        intruders: Intruders,
        labels: LabelSource,
        flavors: OrderFlavors,
        slots: Slots,
    ) -> None:
        self._placement = placement
        self._nodes = nodes
        self._devices = devices
        self._flavors = flavors
        self._guests = guests
        self._intruders = intruders
        self._labels = labels
        self._slots = slots

    def hold(self, order: Order, waited: int) -> bool:
        """Hold what a lease needs on shared hosts, with a slot for each of its servers. Return whether that is done.

        Servers of a lease with devices get their slots from ``lend``.

        :param waited: seconds since the operation began
        :raises HostsOccupiedError: servers on its hosts do not give way
        """
        shared = _shared(order)
        to_hold = without(shared, self._labels.claims(order))
        if not self._hold_all(order, shared, to_hold, waited):
            return False
        labels = self._labels.labels(order)
        if not lease_parts.nested_classes(shared):
            self._slots.make(to_hold, labels)
        self._flavors.ensure(order, labels)
        return True

    def _hold_all(
        self, order: Order, shared: Sequence[lease_parts.Vm], to_hold: Sequence[lease_parts.Vm], waited: int
    ) -> bool:
        for vm in shared:
            if vm not in to_hold:
                self._placement.release(names.consumer(order.lease_id, vm.number))
        runs_already = order.operation.kind is OperationKind.ADJUST
        new: list[tuple[lease_parts.Vm, Amounts]] = []
        stocks: dict[str, Stock] = {}
        try:
            for vm in to_hold:
                before = self._hold(order, vm, self._amounts(order, vm, stocks))
                if before is not None:
                    new.append((vm, before))
            # A running lease keeps what it has on a host that has shrunk, so only new holdings are checked.
            self._check(order, [vm for vm, _ in new] if runs_already else to_hold)
        except NoRoomError as error:
            LOG.info("lease %s waits for capacity on its hosts: %s", order.lease_id, error)
            if runs_already:
                self._retreat(order, new)
            by_host = [[vm for vm in to_hold if vm.host == host] for host in sorted({vm.host for vm in to_hold})]
            guests_go, occupied = [], {}
            for vms in by_host:
                try:
                    guests_go.append(self._make_room(order, vms, waited))
                except HostsOccupiedError as conflict:
                    occupied.update(conflict.servers)
            if occupied:
                raise HostsOccupiedError(occupied) from error
            if not runs_already and not any(guests_go):
                # Another lease may have the capacity, and wait for what this one holds. So release that.
                for vm in to_hold:
                    self._placement.release(names.consumer(order.lease_id, vm.number))
                self._take_back(order)
            return False
        return True

    def _hold(self, order: Order, vm: lease_parts.Vm, amounts: Amounts) -> Amounts | None:
        consumer_id = names.consumer(order.lease_id, vm.number)
        return self._placement.hold(consumer_id, amounts, order.document.project_id, order.document.user_id)

    def _amounts(self, order: Order, vm: lease_parts.Vm, stocks: dict[str, Stock]) -> Amounts:
        """Return what to hold for a node, with devices unless they are already lent to its servers.

        :param stocks: host -> what other nodes of the lease have left so far; extended here
        :raises NoRoomError: no nested provider has enough free
        """
        root_id = self._nodes.node(vm.host).provider_id
        amounts: dict[str, Mapping[str, int]] = {root_id: lease_parts.held(vm)}
        if not vm.groups:
            return amounts
        present = self._placement.held(names.consumer(order.lease_id, vm.number))
        if root_id in present:
            return {**present, **amounts} if _holds_devices(present, vm) else amounts
        if vm.host not in stocks:
            stocks[vm.host] = self._read_devices(order, vm.host).stock()
        for group in vm.groups:
            provider_id = stocks[vm.host].take(group)
            if provider_id is None:
                raise NoRoomError(f"host {vm.host} has no room for {group}")
            amounts[provider_id] = together(amounts.get(provider_id, {}), (group.resources,))
        return amounts

    def lend(self, order: Order) -> None:
        """Make slots for the servers of a lease and release the devices that it holds, so that they can claim these."""
        shared = _shared(order)
        # The slots first, because they show other leases what is lent.
        self._slots.make(without(shared, self._labels.claims(order)), self._labels.labels(order))
        for vm in shared:
            if vm.groups:
                root_id = self._nodes.node(vm.host).provider_id
                if root_id in self._placement.held(names.consumer(order.lease_id, vm.number)):
                    self._hold(order, vm, {root_id: lease_parts.held(vm)})

    def _take_back(self, order: Order) -> None:
        """Remove the slots of a lease that holds nothing any more, so that no devices count as lent for it."""
        shared = _shared(order)
        if not lease_parts.nested_classes(shared):
            return
        for host, totals in lease_parts.slots(shared, self._labels.labels(order)).items():
            self._slots.try_to_remove(host, totals)

    def _read_devices(self, order: Order, host: str) -> Devices:
        """Return the devices of a host. What the lease itself has lent follows from what it holds, not from slots."""
        root_id, labels = self._nodes.node(host).provider_id, self._labels.labels(order)
        own: Counter[str] = Counter()
        for vm in _shared(order):
            if vm.host == host:
                held = self._placement.held(names.consumer(order.lease_id, vm.number))
                is_lent = root_id in held and not _holds_devices(held, vm)
                own[labels[vm.node_set].slot_class] += vm.servers if is_lent else 0
        return self._devices.read(host, root_id, own)

    def _check(self, order: Order, vms: Iterable[lease_parts.Vm]) -> None:
        """Check that what is held for nodes really exists.

        :raises NoRoomError: Placement has granted the same capacity to others, too
        """
        classes: dict[tuple[str, str], set[str]] = {}
        with_devices: dict[str, list[Amounts]] = {}
        for vm in vms:
            root_id = self._nodes.node(vm.host).provider_id
            held: Amounts = {root_id: lease_parts.held(vm)}
            if vm.groups:
                held = self._placement.held(names.consumer(order.lease_id, vm.number))
                if _holds_devices(held, vm):
                    with_devices.setdefault(vm.host, []).append(held)
            for provider_id, of_provider in held.items():
                classes.setdefault((vm.host, provider_id), set()).update(of_provider)
        for (host, provider_id), known in sorted(classes.items()):
            excess = self._placement.missing(provider_id, dict.fromkeys(known, 0))
            if excess:
                amounts = ", ".join(f"{amount} of {name}" for name, amount in sorted(excess.items()))
                raise NoRoomError(f"host {host} has been given away more than once: {amounts} too much")
        for host, of_vms in sorted(with_devices.items()):
            if self._read_devices(order, host).are_displaced(of_vms):
                raise NoRoomError(f"servers of leases on host {host} could not claim their devices any more")

    def _retreat(self, order: Order, new: Iterable[tuple[lease_parts.Vm, Amounts]]) -> None:
        """Restore what was held before, so that the next attempt checks the capacity again."""
        for vm, before in new:
            if not before:
                self._placement.release(names.consumer(order.lease_id, vm.number))
                continue
            try:
                self._hold(order, vm, before)
            except NoRoomError as error:
                LOG.info("lease %s holds more than it had for VM %d: %s", order.lease_id, vm.number, error)

    def _make_room(self, order: Order, vms: Sequence[lease_parts.Vm], waited: int) -> bool:
        """Have servers give way to nodes on a host. Return whether guests are leaving it.

        :raises HostsOccupiedError: servers are in the way and do not give way
        """
        node = self._nodes.node(vms[0].host)
        has_already = self._placement.consumers_on(node.provider_id)
        # With an amount of 0, capacity that is held already counts as missing if it is overdrawn.
        needed: Counter[str] = Counter({name: 0 for vm in vms for name in lease_parts.held(vm)})
        for vm in vms:
            if names.consumer(order.lease_id, vm.number) not in has_already:
                needed.update(lease_parts.held(vm))
        groups = [
            group for vm in vms if names.consumer(order.lease_id, vm.number) not in has_already for group in vm.groups
        ]

        def missing() -> Mapping[str, int]:
            return self._missing(order, vms[0].host, needed, groups)

        if not missing():
            return False
        if self._guests.make_room(node.name, node.service, missing):
            return True
        LOG.info("lease %s: no server on host %s makes room", order.lease_id, node.name)
        self._intruders.make_room(node.name, node.service, missing, waited, order.lease_id)
        return False

    def _missing(
        self, order: Order, host: str, needed: Mapping[str, int], groups: Sequence[ProviderGroup]
    ) -> dict[str, int]:
        """Return how much of each class is missing on a host and its nested providers."""
        missing = Counter(self._placement.missing(self._nodes.node(host).provider_id, needed))
        if groups:
            stock = self._read_devices(order, host).stock()
            for group in groups:
                if stock.take(group) is None:
                    missing.update(group.resources)
        return dict(missing)

    def leave(self, known: Known, services: Iterable[str]) -> frozenset[str]:
        """Release what is held for a lease on some hosts, and remove its slots there.

        :return: compute services on which servers still have their slots, such as stopped or suspended ones
        """
        consumers = {names.consumer(known.lease_id, number) for number in range(known.vms)}
        classes = [names.slot_class(known.lease_id, number) for number in range(known.node_sets)]
        classes += [names.reservation_class(reservation_id) for reservation_id in known.reservations]
        in_use = set()
        for host in sorted(self._nodes.names(services)):
            node = self._nodes.node(host)
            for consumer in sorted(consumers & self._placement.consumers_on(node.provider_id).keys()):
                self._placement.release(consumer)
            if not self._slots.remove(host, classes):
                in_use.add(node.service)
        return frozenset(in_use)

    def remove(self, known: Known) -> None:
        """Remove the flavors and resource classes of a lease that has no slots any more."""
        self._flavors.remove(known)
        for number in range(known.node_sets):
            self._placement.remove_class(names.slot_class(known.lease_id, number))


def _holds_devices(held: Amounts, vm: lease_parts.Vm) -> bool:
    """Return whether a consumer that holds the host of a node holds its devices, too."""
    total: Counter[str] = Counter()
    for amounts in held.values():
        total.update(amounts)
    wanted = together(lease_parts.held(vm), (group.resources for group in vm.groups))
    devices = {name for group in vm.groups for name in group.resources}
    return all(total[name] >= wanted[name] for name in devices)


def _shared(order: Order) -> list[lease_parts.Vm]:
    """Return the nodes of a lease on hosts that it shares with others."""
    return [vm for vm in lease_parts.vms(order) if not vm.has_whole_host]


def without(vms: Sequence[lease_parts.Vm], claiming: Mapping[tuple[int, str], int]) -> list[lease_parts.Vm]:
    """Return the nodes for which something must be held: those without servers that claim for themselves.

    :param claiming: node set and host -> number of servers that claim for themselves
    """
    left = Counter(claiming)
    found = []
    for vm in vms:
        if left[vm.node_set, vm.host] >= vm.servers:
            left[vm.node_set, vm.host] -= vm.servers
        else:
            found.append(vm)
    return found
