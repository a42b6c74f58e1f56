"""The parts of a lease that Nova and Placement must know: its nodes, reservations and floating IPs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lease_scheduler.cloud.nova.api.names import ANCHOR, Labels
from lease_scheduler.cloud.orders import Order
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import DISK_GB, FLOATING_IP, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.records.documents import ReservationRecord


@dataclass(frozen=True)
class Vm:
    """A node of a lease on a compute host.

    :ivar number: its position among all such nodes of the lease
    :ivar node_set: number of its node set
    :ivar host: name of its compute host
    :ivar resources: what it needs
    :ivar servers: number of servers that it stands for; instances that must share a host are planned as one node
    :ivar groups: what it needs of nested resource providers of its host
    :ivar fluid: VCPU that its servers have beyond those in ``resources``; nothing is held for these
    """

    number: int
    node_set: int
    host: str
    resources: Resources
    servers: int = 1
    groups: tuple[ProviderGroup, ...] = ()
    fluid: int = 0

    @property
    def has_whole_host(self) -> bool:
        """Whether it has its host for itself. Its server then claims as usual, and the filter keeps others off."""
        return self.resources.get(HOST_SHARE) == WHOLE_HOST


@dataclass(frozen=True)
class LeasePart:
    """A reservation of a lease.

    :ivar node_sets: numbers of its node sets
    :ivar vms: its nodes
    """

    record: ReservationRecord
    node_sets: range
    vms: tuple[Vm, ...]

    @property
    def reservation_id(self) -> str:
        """Its id, which its project knows."""
        return self.record.reservation_id

    @property
    def has_whole_hosts(self) -> bool:
        """Whether it reserves hosts rather than instances."""
        return any(vm.has_whole_host for vm in self.vms)

    @property
    def server_group_id(self) -> str | None:
        """Id of its server group, or None if it states no affinity."""
        found: str | None = self.record.terms.get("server_group_id")
        return found


def vms(order: Order) -> list[Vm]:
    """Return the nodes of a lease that have their hosts. Floating IPs are left out."""
    return [vm for vm in planned_vms(order) if vm.host not in order.without]


def planned_vms(order: Order) -> list[Vm]:
    """Return all nodes of a lease, even if it does not have their hosts at present. Floating IPs are left out."""
    nodes = [(number, node_set) for number, node_set in enumerate(order.request.nodes) for _ in range(node_set.count)]
    together = _together(order)
    return [
        Vm(position, number, host, node_set.resources, together.get(number, 1), node_set.groups, node_set.fluid)
        for position, ((number, node_set), host) in enumerate(zip(nodes, order.hosts, strict=True))
        if FLOATING_IP not in node_set.resources
    ]


def places(order: Order) -> list[tuple[int, Vm]]:
    """Return the number and the node of each server of a lease. The number identifies the server later.

    Nodes whose hosts the lease does not have at present are included, so that the others keep their numbers.
    """
    return list(enumerate(vm for vm in planned_vms(order) for _ in range(vm.servers)))


@dataclass(frozen=True)
class Address:
    """A floating IP of a lease."""

    reservation_id: str
    network_id: str
    address: str


def addresses(order: Order) -> list[Address]:
    """Return the floating IPs of a lease, which the plan counts among its hosts."""
    found = []
    for record, _ in _reservations(order):
        if "network_id" in record.terms:
            for address in order.hosts[record.first_node : record.first_node + record.node_count]:
                found.append(Address(record.reservation_id, record.terms["network_id"], address))
    return found


def parts(order: Order) -> list[LeasePart]:
    """Return the reservations of a lease that have nodes with hosts."""
    found = vms(order)
    of_sets = ((record, node_sets) for record, node_sets in _reservations(order))
    each = [
        LeasePart(record, node_sets, tuple(vm for vm in found if vm.node_set in node_sets))
        for record, node_sets in of_sets
    ]
    return [part for part in each if part.vms]


def _reservations(order: Order) -> list[tuple[ReservationRecord, range]]:
    """Return the reservations of a lease with the numbers of their node sets."""
    found = []
    first = 0
    for record in order.document.reservations:
        found.append((record, range(first, first + record.node_sets)))
        first += record.node_sets
    return found


def ephemeral_gb(order: Order) -> dict[int, int]:
    """Return node set -> GB of the disk of each server that are a second, empty disk."""
    return {
        number: int(record.terms.get("ephemeral_gb") or 0)
        for record, node_sets in _reservations(order)
        for number in node_sets
    }


def _together(order: Order) -> dict[int, int]:
    """Return node set -> servers per node, for node sets whose nodes stand for several servers."""
    return {
        number: int(record.terms["amount"])
        for record, node_sets in _reservations(order)
        if record.terms.get("affinity") is True
        for number in node_sets
    }


def held(vm: Vm) -> dict[str, int]:
    """Return class -> amount of the host itself that the lease holds for a node, so that others do not take it.

    For a node that needs only nested providers, it holds an anchor, which shows that the node has its host.
    """
    if vm.has_whole_host:
        return {}
    return {name: amount for name, amount in vm.resources.items() if name != HOST_SHARE} or {ANCHOR: 1}


def is_slot_only(amounts: Mapping[str, int]) -> bool:
    """Return whether a server claims only what Nova needs to place it, because its lease holds the rest.

    :param amounts: class -> amount of the host itself that Placement counts for it
    """
    return not any(amounts.get(name, 0) for name in (VCPU, DISK_GB)) and amounts.get(MEMORY_MB, 0) <= 1


def of_server(vm: Vm) -> dict[str, int]:
    """Return class -> amount that each server of a node sees."""
    has = vm.resources.replaced(**{VCPU: vm.resources.get(VCPU, 0) + vm.fluid}) if vm.fluid else vm.resources
    return {name: amount // vm.servers for name, amount in has.items()}


def groups_of_server(vm: Vm) -> tuple[ProviderGroup, ...]:
    """Return what each server of a node needs of nested resource providers."""
    return vm.groups[: len(vm.groups) // vm.servers]


def nested_classes(found: Sequence[Vm]) -> list[str]:
    """Return the resource classes of nested providers that nodes on shared hosts need, in order."""
    return sorted({name for vm in found if not vm.has_whole_host for group in vm.groups for name in group.resources})


def slots(found: Sequence[Vm], labels: Mapping[int, Labels]) -> dict[str, Mapping[str, int]]:
    """Return shared host -> class of slots -> number of servers of the lease that may be there.

    :param labels: names of flavor and slots by node set
    """
    numbers: dict[str, Counter[str]] = {}
    for vm in found:
        if not vm.has_whole_host:
            numbers.setdefault(vm.host, Counter())[labels[vm.node_set].slot_class] += vm.servers
    return {host: dict(of_host) for host, of_host in numbers.items()}


def hosts(found: Sequence[Vm], *, exclusive: bool) -> frozenset[str]:
    """Return the hosts that a lease has for itself, or those that it shares with others."""
    whole = frozenset(vm.host for vm in found if vm.has_whole_host)
    return whole if exclusive else frozenset(vm.host for vm in found) - whole
