"""What a lease should have in Nova, Placement and Keystone, computed from its order without calls to services."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lease_scheduler.cloud.differences import Item, Kind, Presence
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.aggregates import Aggregate
from lease_scheduler.cloud.nova.api.flavors import WantedFlavor
from lease_scheduler.cloud.nova.api.hosts import Node
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, NEVER, SAVED, SERVERS, VMS, own_metadata
from lease_scheduler.cloud.nova.lease.lease_parts import LeasePart
from lease_scheduler.cloud.nova.lease.reservations import said_by
from lease_scheduler.cloud.nova.steps.holding import without
from lease_scheduler.cloud.nova.steps.order_flavors import flavors_of
from lease_scheduler.cloud.nova.steps.starting import wanted_servers
from lease_scheduler.cloud.orders import Expectation, Order
from lease_scheduler.nova import aggregates as metadata


@dataclass(frozen=True)
class Known:
    """Facts about the cloud that determine, with the order, what a lease should have.

    :ivar node_of: returns the names of a host of the plan in Nova and Placement
    :ivar find: returns the aggregate with a name, or None
    :ivar labels: names of flavor and slots by node set
    :ivar parts: reservations that have or should have their own aggregate, see ``Reservations.parts``
    :ivar claims: servers for which nothing is held, see ``Reservations.claims``
    :ivar aliases: PCI aliases of Nova
    :ivar shares_per_vcpu: see ``WantedFlavor``
    :ivar now: the present instant
    """

    node_of: Callable[[str], Node]
    find: Callable[[str], Aggregate | None]
    labels: Mapping[int, Labels]
    parts: tuple[tuple[LeasePart, Aggregate | None], ...]
    claims: Mapping[tuple[int, str], int]
    aliases: PciAliases
    shares_per_vcpu: int
    now: int


def wanted(expectation: Expectation, known: Known) -> list[Item]:
    """Return what a lease should have."""
    order = expectation.order
    items = list(_trust_and_groups(order))
    if expectation.presence is Presence.SAVED:
        items += _remembered(order, known)
    elif expectation.presence is Presence.RUNNING:
        items += _own_aggregates(expectation, known)
        items += _reservations(expectation, known)
        items += _held(order, known)
        items += _flavors(order, known)
        items += _servers(order, known)
    return items


def pool(name: str, services: Iterable[str]) -> list[Item]:
    """Return what the pool should have.

    :param name: name of its aggregate
    """
    return [
        Item(Kind.AGGREGATE, name, contents={"hosts": listed(services)}),
        Item(Kind.METADATA, name, contents={metadata.POOL: "true"}, inside=(Kind.AGGREGATE, name)),
    ]


def listed(texts: Iterable[str]) -> str:
    """Return texts sorted and joined into one, for comparison and for people."""
    return ", ".join(sorted(texts))


def amounts(resources: Mapping[str, int]) -> str:
    """Return amounts by class as text, for comparison and for people."""
    return listed(f"{name} {amount}" for name, amount in resources.items())


def size(memory_mb: int, vcpus: int, disk_gb: int) -> dict[str, str]:
    """Return the size of a flavor, for comparison and for people."""
    return {"memory_mb": str(memory_mb), "vcpus": str(vcpus), "disk_gb": str(disk_gb)}


def slots(host: str, resource_class: str) -> str:
    """Return the name of the inventory of a class on a host."""
    return f"{host} {resource_class}"


def server(lease_id: str, number: int | None) -> str:
    """Return the name of the item for a server of a managed lease."""
    return f"{lease_id} {number}"


def _trust_and_groups(order: Order) -> Iterable[Item]:
    if order.document.trust_id is not None:
        yield Item(Kind.TRUST, order.document.trust_id, order.lease_id)
    for group in sorted(order.document.server_groups):
        yield Item(Kind.SERVER_GROUP, group, order.lease_id)


def _remembered(order: Order, known: Known) -> Iterable[Item]:
    """Yield what a suspended lease should have: at least one aggregate, for its metadata."""
    found = [
        (exclusive, aggregate)
        for exclusive in (True, False)
        if (aggregate := known.find(names.aggregate(order.lease_id, exclusive=exclusive))) is not None
    ]
    if not found:
        shares = bool(lease_parts.hosts(lease_parts.vms(order), exclusive=False)) if order.hosts else False
        yield Item(Kind.AGGREGATE, names.aggregate(order.lease_id, exclusive=not shares), order.lease_id)
    for exclusive, aggregate in found:
        said = own_metadata(order, _vms(aggregate), exclusive=exclusive)
        said.pop(metadata.VACATED_FROM, None)
        yield Item(Kind.METADATA, aggregate.name, order.lease_id, said | {SERVERS: SAVED})


def _own_aggregates(expectation: Expectation, known: Known) -> Iterable[Item]:
    order = expectation.order
    vms = lease_parts.vms(order)
    hosts = {exclusive: lease_parts.hosts(vms, exclusive=exclusive) for exclusive in (True, False)}
    for exclusive, of_lease in hosts.items():
        if not of_lease and not (exclusive and not hosts[False]):
            continue
        name = names.aggregate(order.lease_id, exclusive=exclusive)
        found = known.find(name)
        said = own_metadata(order, 0 if found is None else _vms(found), exclusive=exclusive)
        said |= {SERVERS: ACTIVE} | _interval(expectation, found, known.now)
        yield Item(Kind.AGGREGATE, name, order.lease_id, {"hosts": _services(of_lease, known)})
        yield Item(Kind.METADATA, name, order.lease_id, said, inside=(Kind.AGGREGATE, name))


def _reservations(expectation: Expectation, known: Known) -> Iterable[Item]:
    order = expectation.order
    for part, found in known.parts:
        name = part.reservation_id
        said = said_by(order, part) | _interval(expectation, found, known.now)
        hosts = _services((vm.host for vm in part.vms), known)
        yield Item(Kind.AGGREGATE, name, order.lease_id, {"hosts": hosts})
        yield Item(Kind.METADATA, name, order.lease_id, said, inside=(Kind.AGGREGATE, name))


def _held(order: Order, known: Known) -> Iterable[Item]:
    shared = [vm for vm in lease_parts.vms(order) if not vm.has_whole_host]
    to_hold = without(shared, known.claims)
    for vm in to_hold:
        provider = known.node_of(vm.host).name
        contents = {provider: amounts(lease_parts.held(vm))}
        consumer = names.consumer(order.lease_id, vm.number)
        yield Item(Kind.CONSUMER, consumer, order.lease_id, contents, is_complete=True)
    totals = lease_parts.slots(to_hold, known.labels)
    for resource_class in sorted({name for of_host in totals.values() for name in of_host}):
        yield Item(Kind.RESOURCE_CLASS, resource_class, order.lease_id)
    for host, of_host in sorted(totals.items()):
        # nova-compute creates it from the operator's provider configuration file.
        yield Item(Kind.INVENTORY, slots(host, names.ANCHOR), order.lease_id)
        for resource_class, total in sorted(of_host.items()):
            name, inside = slots(host, resource_class), (Kind.RESOURCE_CLASS, resource_class)
            yield Item(Kind.INVENTORY, name, order.lease_id, {"total": str(total)}, inside=inside)


def _flavors(order: Order, known: Known) -> Iterable[Item]:
    for flavor in flavors_of(order, known.labels, known.aliases, known.shares_per_vcpu):
        name = flavor.labels.flavor_id
        inside = (Kind.FLAVOR, name)
        extra_specs = flavor.extra_specs(order.lease_id)
        yield Item(Kind.FLAVOR, name, order.lease_id, _size(flavor))
        yield Item(Kind.EXTRA_SPECS, name, order.lease_id, extra_specs, inside, is_complete=True)
        yield Item(Kind.ACCESS, name, order.lease_id, {order.document.project_id: "yes"}, inside)


def _size(flavor: WantedFlavor) -> dict[str, str]:
    return size(*flavor.size) if flavor.has_our_size else {}


def _servers(order: Order, known: Known) -> Iterable[Item]:
    if order.document.servers:
        for each in wanted_servers(order, known.labels):
            contents = {"name": each.name}
            yield Item(Kind.SERVER, server(order.lease_id, each.number), order.lease_id, contents)


def _interval(expectation: Expectation, found: Aggregate | None, now: int) -> dict[str, str]:
    """Return the metadata that says when servers may run.

    The present instant from which they may run stays if it is not later than the start, or has passed.
    """
    start, until = expectation.order.start, expectation.until
    said = NEVER if found is None else found.metadata.get(metadata.FROM, NEVER)
    is_open = said.isdigit() and int(said) <= max(start, now)
    interval = {metadata.FROM: said if is_open else str(start)}
    return interval if until is None else interval | {metadata.UNTIL: str(until)}


def _services(hosts: Iterable[str], known: Known) -> str:
    return listed({known.node_of(host).service for host in hosts})


def _vms(aggregate: Aggregate) -> int:
    said = aggregate.metadata.get(VMS, "")
    return int(said) if said.isdigit() else 0
