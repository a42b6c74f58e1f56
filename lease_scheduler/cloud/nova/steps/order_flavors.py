"""The flavors of a lease, with which its servers are booted."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.flavors import LeaseFlavors, WantedFlavor
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import Known
from lease_scheduler.cloud.orders import Order
from lease_scheduler.model.kinds import PreemptionMode

#: Modes of preemption in which servers stay on their hosts.
_STAYING = frozenset({PreemptionMode.STOP, PreemptionMode.SUSPEND})


class OrderFlavors:
    """The flavors of leases, derived from their orders.

    :param aliases: aliases by which Nova gives PCI devices to servers
    :param shares_per_vcpu: weight of the CPU time of servers for each of their VCPUs; 0 for Nova's own weight
    """

    def __init__(self, flavors: LeaseFlavors, aliases: PciAliases, shares_per_vcpu: int) -> None:
        self._flavors = flavors
        self._aliases = aliases
        self._shares_per_vcpu = shares_per_vcpu

    def ensure(self, order: Order, labels: Mapping[int, Labels]) -> None:
        """Create or change the flavors of a lease.

        :param labels: names of flavor and slots by node set
        """
        for wanted in flavors_of(order, labels, self._aliases, self._shares_per_vcpu):
            self._flavors.ensure(order.lease_id, wanted, order.document.project_id)

    def remove(self, known: Known) -> None:
        """Remove the flavors of a lease."""
        self._flavors.remove(names.flavor_id(known.lease_id, number) for number in range(known.node_sets))


def flavors_of(
    order: Order, labels: Mapping[int, Labels], aliases: PciAliases, shares_per_vcpu: int
) -> list[WantedFlavor]:
    """Return the flavors that a lease has while it runs."""
    found = lease_parts.vms(order)
    first_of_set = {vm.node_set: vm for vm in reversed(found)}
    ephemeral = lease_parts.ephemeral_gb(order)
    flavors = []
    for number, vm in sorted(first_of_set.items()):
        is_whole = any(each.node_set == number and each.has_whole_host for each in found)
        if order.document.servers or not is_whole:
            claims = is_whole and order.request.preemption_mode not in _STAYING
            of_server, groups = lease_parts.of_server(vm), lease_parts.groups_of_server(vm)
            fluid = vm.fluid // vm.servers
            flavors.append(
                WantedFlavor(
                    labels[number],
                    of_server,
                    not is_whole,
                    claims,
                    groups,
                    aliases,
                    shares_per_vcpu,
                    fluid,
                    ephemeral_gb=ephemeral.get(number, 0),
                )
            )
    return flavors
