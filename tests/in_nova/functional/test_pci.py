"""Leases of PCI devices by Nova's aliases, with PCI devices in Placement (issue 18)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

from nova import context, objects
from nova.pci import request as pci_request
from nova.virt import fake

from lease_scheduler.cloud.differences import Presence
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.pci_aliases import ALIAS, parse
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.orders import Expectation, Order
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import Resources
from tests.in_nova.functional.site import HOSTS, SMALL, NovaSite

A100, FPGA = "CUSTOM_PCI_10DE_20B0", "CUSTOM_FPGA"
UNTIL = 2**40

#: Address -> product. nova-compute reports each device as a provider of its own.
DEVICES = {"0000:17:00.0": "20b0", "0000:18:00.0": "20b0", "0000:19:00.0": "1eb8"}

ALIASES = [
    json.dumps({"name": "a100", "vendor_id": "10de", "product_id": "20b0", "device_type": "type-PCI"}),
    json.dumps({"name": "fpga", "resource_class": FPGA, "traits": "CUSTOM_NEAR"}),
]
SPECS = [
    json.dumps({"vendor_id": "10de", "product_id": "20b0"}),
    json.dumps({"vendor_id": "10de", "product_id": "1eb8", "resource_class": FPGA, "traits": "CUSTOM_NEAR"}),
]

ONE_A100 = ProviderGroup(Resources({A100: 1}))
ONE_FPGA = ProviderGroup(Resources({FPGA: 1}), frozenset({"CUSTOM_NEAR"}))


class PciDriver(fake.MediumFakeDriver):  # type: ignore[misc]
    """A hypervisor with PCI devices."""

    def get_available_resource(self, nodename: str) -> Any:
        found = super().get_available_resource(nodename)
        devices = [
            {
                "address": address,
                "product_id": product,
                "vendor_id": "10de",
                "status": "available",
                "dev_type": "type-PCI",
                "parent_addr": None,
                "numa_node": None,
                "label": f"label_10de_{product}",
            }
            for address, product in DEVICES.items()
        ]
        return {**found, "pci_passthrough_devices": json.dumps(devices)}


# Nova loads drivers by their names in its own package.
fake.PciDriver = PciDriver


class PciTest(NovaSite):
    compute_driver = "fake.PciDriver"
    options = DriverOptions(pci_aliases=parse(ALIASES))
    filters = (*NovaSite.filters, "PciPassthroughFilter")
    times = 2

    def setUp(self) -> None:
        pci_request.get_alias_from_config.cache_clear()
        self.addCleanup(pci_request.get_alias_from_config.cache_clear)
        super().setUp()

    def start_service(self, name: str, *arguments: Any, **options: Any) -> Any:
        self.flags(group="pci", alias=ALIASES, device_spec=SPECS, report_in_placement=True)
        self.flags(group="filter_scheduler", pci_in_placement=True)
        return super().start_service(name, *arguments, **options)

    def devices(self, kind: OperationKind, lease_id: str, *groups: ProviderGroup) -> Order:
        order = self.order(kind, lease_id, ("host1",), SMALL)
        return replace(order, request=replace(order.request, nodes=(NodeSet(1, SMALL, groups=groups),)))

    def attached(self, server: Any) -> list[str]:
        """Return the addresses of the PCI devices that nova-compute has given to a server."""
        found = objects.PciDeviceList.get_by_instance_uuid(context.get_admin_context(), server.id)
        return sorted(each.address for each in found)

    def guest(self) -> Any:
        """Boot a server that makes room, with an A100, on the first host."""
        flavor = self.nova.flavors.create(f"f-{uuid4()}", 256, 1, 1)
        flavor.set_keys({"lease:preemptible": "true", ALIAS: "a100:1"})
        return self.boot(str(flavor.id), host="host1")

    def test_a_server_of_a_lease_gets_its_devices(self) -> None:
        lease_id = str(uuid4())
        order = self.devices(OperationKind.START, lease_id, ONE_A100, ONE_FPGA, ONE_A100)
        self.carry_out(order)
        self.driver.announcements.tell_ends({lease_id: UNTIL})
        assert self.guest().status == "ERROR"
        servers = [self.boot(names.flavor_id(lease_id, 0)) for _ in range(2)]
        assert sorted(server.status for server in servers) == ["ACTIVE", "ERROR"]
        (active,) = (server for server in servers if server.status == "ACTIVE")
        assert self.attached(active) == sorted(DEVICES)
        providers = [name for name in self.held.providers() if name.startswith("host1_")]
        assert len(providers) == len(DEVICES)
        usages = [self.held.usages(self.held.providers()[name][0]) for name in providers]
        assert [sum(used.values()) for used in usages] == [1, 1, 1], "no device is claimed twice"
        expected = [Expectation(order, Presence.RUNNING, UNTIL)]
        assert self.driver.repair.differences(expected, {lease_id: 1}, HOSTS) == []
        self.carry_out(self.devices(OperationKind.STOP, lease_id, ONE_A100, ONE_FPGA, ONE_A100))
        assert self.guest().status == "ACTIVE"

    def test_guests_with_devices_make_room_for_leases(self) -> None:
        """Each of two leases gets one, although no server of the first has been booted when the second starts."""
        guests = [self.guest(), self.guest()]
        assert [each.status for each in guests] == ["ACTIVE", "ACTIVE"]
        leases = [str(uuid4()), str(uuid4())]
        gone = []
        for lease_id in leases:
            self.carry_out(self.devices(OperationKind.START, lease_id, ONE_A100))
            gone.append(sum(self.nova.servers.get(each.id).status == "SHELVED_OFFLOADED" for each in guests))
        assert gone == [1, 2], "and no more than necessary"
        servers = [self.boot(names.flavor_id(lease_id, 0)) for lease_id in leases]
        assert sorted(self.attached(server) for server in servers) == [["0000:17:00.0"], ["0000:18:00.0"]]

    def test_a_flavor_with_aliases_has_their_devices(self) -> None:
        flavor = self.nova.flavors.create(f"f-{uuid4()}", 256, 1, 1)
        flavor.set_keys({ALIAS: "a100:2,fpga:1"})
        assert self.driver.flavors[flavor.id].groups == (ONE_A100, ONE_A100, ONE_FPGA)
