"""Hypervisors that do nothing, as Nova's fake ones; tests replace their methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.rehearsal.cloud.cloud import Device


@dataclass(frozen=True)
class Instance:
    """A server, as hypervisors are told of it."""

    uuid: str
    vm_state: str = "active"


class FakeDriver:
    """A hypervisor."""

    vcpus, memory_mb, local_gb = 1000, 800_000, 600_000

    def __init__(self, host: str, cached_images: set[str]) -> None:
        self.host = host
        self.cached_images = cached_images

    def spawn(self, context: Any, instance: Any, *arguments: Any, **options: Any) -> None:
        """Boot a server."""

    def snapshot(self, context: Any, instance: Any, *arguments: Any) -> None:
        """Make an image."""

    def reboot(self, context: Any, instance: Any, *arguments: Any) -> None:
        """Reboot."""

    def power_off(self, instance: Any, *arguments: Any) -> None:
        """Switch off."""

    def rescue(self, context: Any, instance: Any, *arguments: Any) -> None:
        """Boot a rescue image."""

    def suspend(self, context: Any, instance: Any, *arguments: Any) -> None:
        """Suspend."""

    def migrate_disk_and_power_off(self, context: Any, instance: Any, *arguments: Any) -> None:
        """Send a disk away."""

    def destroy(self, context: Any, instance: Any, *arguments: Any) -> None:
        """Delete."""

    def get_available_resource(self, nodename: str) -> dict[str, Any]:
        """Return what there is."""
        return {}

    def update_provider_tree(self, provider_tree: Any, nodename: str, allocations: Any = None) -> None:
        """Report providers."""

    def get_instance_diagnostics(self, instance: Any) -> Any:
        """Return what a server uses."""
        return Diagnostics()


class MediumFakeDriver(FakeDriver):
    """A hypervisor of the size that Nova's has."""

    vcpus, memory_mb, local_gb = 10, 8192, 1028


class FakeDriverWithCaching(FakeDriver):
    """A hypervisor with a cache of images."""


class ProviderTree:
    """Collects the providers that a hypervisor reports below its host."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._classes: dict[str, tuple[str, int]] = {}
        self._traits: dict[str, frozenset[str]] = {}

    def exists(self, name: str) -> bool:
        return name == self._host or name in self._traits

    def new_child(self, name: str, parent: str) -> None:
        self._traits[name] = frozenset()

    def update_inventory(self, name: str, inventory: Mapping[str, Mapping[str, Any]]) -> None:
        ((resource_class, said),) = inventory.items()
        self._classes[name] = (resource_class, said["total"])

    def add_traits(self, name: str, *traits: str) -> None:
        self._traits[name] |= frozenset(traits)

    def devices(self) -> list[Device]:
        return [
            Device(name.removeprefix(f"{self._host}_"), resource_class, total, self._traits[name])
            for name, (resource_class, total) in self._classes.items()
        ]


def pci_devices(driver: FakeDriver, specs: list[str]) -> list[Device]:
    """Return the devices that nova-compute reports with ``[pci] report_in_placement``.

    :param specs: lines of the option ``device_spec``
    """
    found = json.loads(driver.get_available_resource(driver.host).get("pci_passthrough_devices", "[]"))
    known = {(said["vendor_id"], said["product_id"]): said for said in map(json.loads, specs)}
    devices = []
    for each in found:
        said = known.get((each["vendor_id"], each["product_id"]))
        if said is not None:
            default = f"CUSTOM_PCI_{each['vendor_id']}_{each['product_id']}".upper()
            traits = frozenset(filter(None, said.get("traits", "").split(",")))
            devices.append(Device(each["address"], said.get("resource_class", default), 1, traits))
    return devices


class Diagnostics:
    """What a server uses."""

    def __init__(self, **_: Any) -> None:
        self.times: list[int | None] = []

    def add_cpu(self, id: int, time: int | None) -> None:
        self.times.append(time)
