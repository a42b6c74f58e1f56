"""Compute hosts: what Nova and Placement say of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from lease_scheduler.cloud.driver import Hypervisor
from lease_scheduler.cloud.nova.names import ANCHOR
from lease_scheduler.cloud.nova.placement import Placement
from lease_scheduler.cloud.nova.placement import capacity as amount_of
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST

_DISABLED = "COMPUTE_STATUS_DISABLED"


@dataclass(frozen=True)
class Node:
    """How services call a compute host.

    :ivar name: of the hypervisor, which is also that of its resource provider
    :ivar service: name of its compute service, by which aggregates know it
    :ivar provider_id: of its resource provider
    """

    name: str
    service: str
    provider_id: str


class Hosts:
    """The compute hosts of the cloud.

    :param nova: novaclient's client, of an administrator; compute API 2.87 at most, which still tells facts of the CPU
    """

    def __init__(self, nova: Any, placement: Placement) -> None:
        self._nova = nova
        self._placement = placement
        self._lock = Lock()
        self._nodes: dict[str, Node] = {}

    def node(self, name: str) -> Node | None:
        """How a compute host is called elsewhere; none if there is no such host."""
        with self._lock:
            known = self._nodes.get(name)
        if known is not None:
            return known
        for found in self._nova.hypervisors.list():
            self._remember(found)
        with self._lock:
            return self._nodes.get(name)

    def services(self) -> Mapping[str, str]:
        """Name of the hypervisor by that of its compute service."""
        with self._lock:
            return {node.service: node.name for node in self._nodes.values()}

    def is_up(self, service: str) -> bool:
        """Whether a compute service is there, enabled or not."""
        return any(each.state == "up" for each in self._nova.services.list(host=service, binary="nova-compute"))

    def describe(self, names: Collection[str] | None = None) -> list[Hypervisor]:
        """All hosts, or those of the names that there are."""
        zones = self._zones()
        listed = [each for each in self._nova.hypervisors.list() if names is None or each.hypervisor_hostname in names]
        return [self._describe(each, zones) for each in listed]

    def _remember(self, found: Any) -> Node:
        node = Node(found.hypervisor_hostname, found.service["host"], found.id)
        with self._lock:
            self._nodes[node.name] = node
        return node

    def _zones(self) -> Mapping[str, str]:
        """Availability zone by compute service."""
        return {each.host: each.zone for each in self._nova.services.list(binary="nova-compute")}

    def _describe(self, found: Any, zones: Mapping[str, str]) -> Hypervisor:
        node = self._remember(found)
        inventories = self._placement.inventories(node.provider_id)
        capacity = {name: amount_of(inventory) for name, inventory in inventories.items() if name != ANCHOR}
        cpu_info = found.cpu_info
        return Hypervisor(
            name=node.name,
            vcpus=inventories.get(VCPU, {}).get("total", 0),
            memory_mb=inventories.get(MEMORY_MB, {}).get("total", 0),
            local_gb=inventories.get(DISK_GB, {}).get("total", 0),
            capacity={**{name: amount for name, amount in capacity.items() if amount}, HOST_SHARE: WHOLE_HOST},
            max_unit={name: inventory["max_unit"] for name, inventory in inventories.items() if name in capacity},
            # Nova says with it that a service is disabled, which is told otherwise.
            traits=tuple(sorted(self._placement.traits(node.provider_id) - {_DISABLED})),
            hypervisor_type=found.hypervisor_type,
            hypervisor_version=int(found.hypervisor_version),
            cpu_info=cpu_info if isinstance(cpu_info, str) else json.dumps(cpu_info, sort_keys=True),
            service_name=node.service,
            availability_zone=zones.get(node.service),
            servers=int(found.running_vms),
            hypervisor_id=str(found.id),
        )
