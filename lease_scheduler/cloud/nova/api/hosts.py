"""Compute hosts, as Nova and Placement describe them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.cloud.nova.api import nested
from lease_scheduler.cloud.nova.api.names import ANCHOR
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.api.placement import capacity as amount_of
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST

_DISABLED = "COMPUTE_STATUS_DISABLED"


@dataclass(frozen=True)
class Node:
    """The names of a compute host in Nova and Placement.

    :ivar name: name of the hypervisor and of its resource provider
    :ivar service: name of its compute service, which aggregates use
    :ivar provider_id: id of its resource provider
    """

    name: str
    service: str
    provider_id: str


class Hosts:
    """The compute hosts of the cloud.

    :param nova: novaclient's client with administrator rights and compute API 2.87 or older, which shows CPU facts
    """

    def __init__(self, nova: Any, placement: Placement) -> None:
        self._nova = nova
        self._placement = placement
        self._lock = Lock()
        self._nodes: dict[str, Node] = {}

    def node(self, name: str) -> Node | None:
        """Return the names of a compute host, or None if there is no such host."""
        with self._lock:
            known = self._nodes.get(name)
        if known is not None:
            return known
        self.learn()
        with self._lock:
            return self._nodes.get(name)

    def learn(self) -> None:
        """Ask Nova for the names of all compute hosts."""
        for found in self._nova.hypervisors.list():
            self._remember(found)

    def services(self) -> Mapping[str, str]:
        """Return compute service -> name of its hypervisor."""
        with self._lock:
            return {node.service: node.name for node in self._nodes.values()}

    def is_up(self, service: str) -> bool:
        """Return whether a compute service is up, enabled or not."""
        return any(each.state == "up" for each in self._nova.services.list(host=service, binary="nova-compute"))

    def describe(self, names: Collection[str] | None = None) -> list[Hypervisor]:
        """Return the hosts with these names that exist, or all."""
        zones = self._zones()
        listed = [each for each in self._nova.hypervisors.list() if names is None or each.hypervisor_hostname in names]
        return [self._describe(each, zones) for each in listed]

    def _remember(self, found: Any) -> Node:
        node = Node(found.hypervisor_hostname, found.service["host"], found.id)
        with self._lock:
            self._nodes[node.name] = node
        return node

    def _zones(self) -> Mapping[str, str]:
        """Return compute service -> availability zone."""
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
            # Without the trait by which Nova marks a disabled service, as an event reports that.
            traits=tuple(sorted(self._placement.traits(node.provider_id) - {_DISABLED})),
            hypervisor_type=found.hypervisor_type,
            hypervisor_version=int(found.hypervisor_version),
            cpu_info=cpu_info if isinstance(cpu_info, str) else json.dumps(cpu_info, sort_keys=True),
            service_name=node.service,
            availability_zone=zones.get(node.service),
            servers=int(found.running_vms),
            hypervisor_id=str(found.id),
            providers=nested.below(self._placement, node.provider_id, node.name),
        )
