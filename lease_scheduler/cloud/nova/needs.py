"""What a lease needs of each of its hosts, as Nova and Placement have to be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lease_scheduler.cloud.driver import Order
from lease_scheduler.cloud.nova import names
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST, Resources


@dataclass(frozen=True)
class Vm:
    """A VM of a lease.

    :ivar number: among all of the lease
    :ivar node_set: number of its node set
    :ivar host: name of its compute host
    """

    number: int
    node_set: int
    host: str
    resources: Resources

    @property
    def has_whole_host(self) -> bool:
        """Whether nobody else may be on its host; it then claims ordinarily, and the filter keeps others away."""
        return self.resources.get(HOST_SHARE) == WHOLE_HOST


def vms(order: Order) -> list[Vm]:
    """The VMs of a lease; addresses are none."""
    assert order.request is not None
    nodes = [
        (number, node_set.resources)
        for number, node_set in enumerate(order.request.nodes)
        for _ in range(node_set.count)
    ]
    return [
        Vm(position, number, host, resources)
        for position, ((number, resources), host) in enumerate(zip(nodes, order.hosts, strict=True))
        if FLOATING_IP not in resources
    ]


def held(vm: Vm) -> dict[str, int]:
    """Class -> amount that is to be held for a VM, so that nobody else takes it."""
    return {} if vm.has_whole_host else {name: amount for name, amount in vm.resources.items() if name != HOST_SHARE}


def slots(found: list[Vm], lease_id: str) -> dict[str, Mapping[str, int]]:
    """Host -> class of slots -> how many servers of the lease may be there."""
    numbers: dict[str, Counter[str]] = {}
    for vm in found:
        if not vm.has_whole_host:
            numbers.setdefault(vm.host, Counter())[names.slot_class(lease_id, vm.node_set)] += 1
    return {host: dict(of_host) for host, of_host in numbers.items()}


def hosts(found: list[Vm], *, exclusive: bool) -> frozenset[str]:
    """The hosts that a lease has for itself, or those that it shares with others."""
    whole = frozenset(vm.host for vm in found if vm.has_whole_host)
    return whole if exclusive else frozenset(vm.host for vm in found) - whole
