"""Leases of GPUs and of PCI devices, which a fake hypervisor reports as nested providers, on a real Nova (issue 18)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar
from uuid import uuid4

from nova.virt import fake

from lease_scheduler.cloud.differences import Presence
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.orders import Expectation, Order
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import HOST_SHARE, Resources
from tests.in_nova.functional.site import HOSTS, IMAGE, LIMIT, POLL, SMALL, NovaSite

PCI = "CUSTOM_PCI_10DE_20B0"
A100, T4 = "CUSTOM_NVIDIA_A100", "CUSTOM_NVIDIA_T4"
GPU = ProviderGroup(Resources({"VGPU": 1}), frozenset({T4}))
UNTIL = 2**40

#: What nova-compute's drivers report for virtual GPUs, and for PCI devices with ``[pci] report_in_placement``.
DEVICES: dict[str, tuple[str, int, str]] = {
    "pci_0000_84_00_0": ("VGPU", 2, A100),
    "pci_0000_85_00_0": ("VGPU", 2, T4),
    "0000:17:00.0": (PCI, 1, "CUSTOM_NEAR"),
    "0000:18:00.0": (PCI, 1, "CUSTOM_NEAR"),
}


class DeviceDriver(fake.MediumFakeDriver):  # type: ignore[misc]
    """A hypervisor with GPUs and PCI devices, which notes what its servers may use of them.

    :cvar given: server -> provider -> class -> amount, as nova-compute passes it to a driver that makes a device of it
    """

    given: ClassVar[dict[str, dict[str, Any]]] = {}

    def update_provider_tree(self, provider_tree: Any, nodename: str, allocations: Any = None) -> None:
        super().update_provider_tree(provider_tree, nodename, allocations=allocations)
        for device, (name, total, trait) in DEVICES.items():
            provider = f"{nodename}_{device}"
            if not provider_tree.exists(provider):
                provider_tree.new_child(name=provider, parent=nodename)
            limits = {"min_unit": 1, "max_unit": total, "step_size": 1, "allocation_ratio": 1.0, "reserved": 0}
            provider_tree.update_inventory(provider, {name: {"total": total, **limits}})
            provider_tree.add_traits(provider, trait)

    def spawn(self, context: Any, instance: Any, *arguments: Any, **options: Any) -> None:
        self.given[instance.uuid] = options.get("allocations") or arguments[3]
        super().spawn(context, instance, *arguments, **options)


# Nova loads drivers by their names in its own package.
fake.DeviceDriver = DeviceDriver


class NestedTest(NovaSite):
    compute_driver = "fake.DeviceDriver"
    # This one takes extra specs without a name space, such as the policy of groups, for its own.
    filters = (*NovaSite.filters, "AggregateInstanceExtraSpecsFilter")
    times = 2

    def setUp(self) -> None:
        DeviceDriver.given.clear()
        super().setUp()
        self.lease_id = str(uuid4())

    def devices(self, kind: OperationKind, hosts: tuple[str, ...], *groups: ProviderGroup, **said: Any) -> Order:
        order = self.order(kind, said.pop("lease_id", self.lease_id), hosts, SMALL, **said)
        return replace(
            order, request=replace(order.request, nodes=(NodeSet(len(hosts), SMALL, groups=groups or (GPU,)),))
        )

    def taken(self, host: str, device: str) -> int:
        """Return how much of a device is taken in Placement."""
        provider_id, _ = self.held.providers()[f"{host}_{device}"]
        return sum(self.held.usages(provider_id).values())

    def given(self, server: Any) -> list[str]:
        """Return the names of the nested providers that a server was spawned with."""
        known = {provider_id: name for name, (provider_id, _) in self.held.providers().items()}
        found = DeviceDriver.given[server.id]
        return sorted(known[each] for each in found if known[each].startswith(tuple(f"{host}_" for host in HOSTS)))

    def preemptible(self, **extra_specs: str) -> str:
        """Make a flavor whose servers make room for leases, and return its id."""
        flavor = self.nova.flavors.create(f"f-{uuid4()}", 256, 1, 1)
        flavor.set_keys({"lease:preemptible": "true", **extra_specs})
        return str(flavor.id)

    def test_hosts_have_their_providers(self) -> None:
        found = {each.name: each for each in self.driver.hypervisors()}
        providers = {each.name: each for each in found["host1"].providers}
        assert set(providers) == {f"host1_{device}" for device in DEVICES}
        gpu = providers["host1_pci_0000_84_00_0"]
        assert (gpu.capacity, gpu.max_unit, gpu.traits) == ({"VGPU": 2}, {"VGPU": 2}, (A100,))
        assert "VGPU" not in found["host1"].capacity
        # The slots of leases are no provider of the host's.
        self.carry_out(self.devices(OperationKind.START, ("host1",)))
        (again,) = self.driver.hypervisors(["host1"])
        assert again.providers == found["host1"].providers

    def test_a_server_of_a_lease_gets_its_gpu(self) -> None:
        order = self.devices(OperationKind.START, ("host1", "host1"))
        self.carry_out(order)
        self.driver.announcements.tell_ends({self.lease_id: UNTIL})
        servers = [self.boot(names.flavor_id(self.lease_id, 0)) for _ in range(3)]
        assert sorted(server.status for server in servers) == ["ACTIVE", "ACTIVE", "ERROR"]
        active = [server for server in servers if server.status == "ACTIVE"]
        assert [self.given(server) for server in active] == [["host1_pci_0000_85_00_0"]] * 2
        assert (self.taken("host1", "pci_0000_85_00_0"), self.taken("host1", "pci_0000_84_00_0")) == (2, 0)
        # The rest is held for the lease as ever.
        assert self.used("host1")["VCPU"] == 4
        expected = [Expectation(order, Presence.RUNNING, UNTIL)]
        assert self.driver.repair.differences(expected, {self.lease_id: 2}, HOSTS) == []
        # A server that is replaced finds its GPU free.
        active[0].delete()
        self.gone(active[0])
        assert self.given(self.boot(names.flavor_id(self.lease_id, 0))) == ["host1_pci_0000_85_00_0"]
        self.carry_out(self.devices(OperationKind.STOP, ("host1", "host1")))
        assert self.nova.servers.list() == []
        assert not self.taken("host1", "pci_0000_85_00_0")
        assert not any(self.used("host1").values())

    def test_servers_of_others_keep_off_the_gpus_of_a_lease(self) -> None:
        flavor_id = self.preemptible(**{"resources:VGPU": "1"})
        assert self.boot(flavor_id).status == "ACTIVE"
        for server in self.nova.servers.list():
            server.delete()
            self.gone(server)
        for host in HOSTS:
            self.carry_out(self.devices(OperationKind.START, (host,), lease_id=str(uuid4())))
        assert self.boot(flavor_id).status == "ERROR"
        assert self.boot(self.preemptible()).status == "ACTIVE"

    def test_devices_are_held_until_the_filter_keeps_others_off(self) -> None:
        """A server that nova-scheduler let pass before it heard of the lease fails at its claim."""
        order = self.devices(OperationKind.START, ("host1",))
        steps = self.driver.steps(order)
        for step in steps[: steps.index("lend")]:
            while self.driver.perform(order, step) is not None:
                time.sleep(POLL)
        assert self.taken("host1", "pci_0000_85_00_0") == 1
        self.preemptible()
        begun = time.monotonic()
        while self.driver.perform(order, "lend") is not None:
            assert self.taken("host1", "pci_0000_85_00_0") == 1
            assert time.monotonic() < begun + LIMIT
            time.sleep(POLL)
        assert self.taken("host1", "pci_0000_85_00_0") == 0
        assert self.used("host1")["VCPU"] == 2

    def test_guests_with_a_gpu_make_room_and_others_stay(self) -> None:
        gpu = self.preemptible(**{"resources:VGPU": "2", f"trait:{T4}": "required"})
        taken = self.boot(gpu, availability_zone="nova:host1")
        stays = self.boot(self.preemptible(), availability_zone="nova:host1")
        assert (taken.status, stays.status) == ("ACTIVE", "ACTIVE")
        self.carry_out(self.devices(OperationKind.START, ("host1", "host1")))
        assert self.nova.servers.get(taken.id).status == "SHELVED_OFFLOADED"
        assert self.nova.servers.get(stays.id).status == "ACTIVE"
        servers = [self.boot(names.flavor_id(self.lease_id, 0)) for _ in range(2)]
        assert [server.status for server in servers] == ["ACTIVE", "ACTIVE"]

    def test_a_lease_leaves_the_gpu_that_another_has_not_used_yet(self) -> None:
        """A guest has the other one, and makes room."""
        guest = self.boot(
            self.preemptible(**{"resources:VGPU": "1", f"trait:{T4}": "required"}), availability_zone="nova:host1"
        )
        assert guest.status == "ACTIVE"
        leases = [str(uuid4()), str(uuid4())]
        for lease_id in leases:
            self.carry_out(self.devices(OperationKind.START, ("host1",), lease_id=lease_id))
        assert self.nova.servers.get(guest.id).status == "SHELVED_OFFLOADED"
        servers = [self.boot(names.flavor_id(lease_id, 0)) for lease_id in leases]
        assert [self.given(server) for server in servers] == [["host1_pci_0000_85_00_0"]] * 2

    def test_pci_devices_and_a_gpu_in_groups_of_their_own(self) -> None:
        """Two equal devices, each of a provider of its own, as Nova's PCI devices in Placement are."""
        device = ProviderGroup(Resources({PCI: 1}), frozenset({"CUSTOM_NEAR"}))
        self.carry_out(self.devices(OperationKind.START, ("host2",), device, device, GPU))
        server = self.boot(names.flavor_id(self.lease_id, 0))
        assert self.given(server) == [
            "host2_0000:17:00.0",
            "host2_0000:18:00.0",
            "host2_pci_0000_85_00_0",
        ]

    def test_shelved_servers_get_their_gpu_back(self) -> None:
        said: dict[str, Any] = {"servers": ({"name": "job", "image_id": IMAGE, "networks": "none"},)}
        self.carry_out(self.devices(OperationKind.START, ("host1",), **said))
        assert self.taken("host1", "pci_0000_85_00_0") == 1
        self.carry_out(self.devices(OperationKind.SUSPEND, ("host1",), **said))
        assert self.taken("host1", "pci_0000_85_00_0") == 0
        self.carry_out(self.devices(OperationKind.RESUME, ("host2",), **said))
        (server,) = self.nova.servers.list()
        assert (server.status, self.host_of(server)) == ("ACTIVE", "host2")
        assert self.taken("host2", "pci_0000_85_00_0") == 1
        # The plan moves it, for example because the host is to be closed.
        self.carry_out(self.devices(OperationKind.ADJUST, ("host2",), **said))
        assert self.taken("host2", "pci_0000_85_00_0") == 1
        self.carry_out(self.devices(OperationKind.STOP, ("host2",), **said))
        assert self.taken("host2", "pci_0000_85_00_0") == 0

    def test_servers_with_a_gpu_are_shelved_however_late(self) -> None:
        """A server that is switched off would keep its GPU in Placement, which the plan gives to another lease."""
        said: dict[str, Any] = {"servers": ({"name": "job", "image_id": IMAGE, "networks": "none"},)}
        self.carry_out(self.devices(OperationKind.START, ("host1",), **said))
        late = self.options.room.escalate_after + 10
        self.carry_out(self.devices(OperationKind.SUSPEND, ("host1",), late=late, **said))
        (server,) = self.nova.servers.list()
        assert (server.status, self.taken("host1", "pci_0000_85_00_0")) == ("SHELVED_OFFLOADED", 0)

    def test_a_node_that_needs_only_a_gpu_has_its_host(self) -> None:
        order = self.devices(OperationKind.START, ("host1",))
        only = NodeSet(1, Resources({HOST_SHARE: 1}), groups=(GPU,))
        order = replace(order, request=replace(order.request, nodes=(only,)))
        self.carry_out(order)
        assert self.boot(names.flavor_id(self.lease_id, 0)).status == "ACTIVE"
        assert self.driver.repair.differences([Expectation(order, Presence.RUNNING)], {self.lease_id: 1}, HOSTS) == []
