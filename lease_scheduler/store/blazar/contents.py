"""The contents of Blazar's database, as plain values. Instants are seconds since the epoch (UTC)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Inventory:
    """How much of a resource class a host has, in Placement's terms."""

    resource_class: str
    total: int
    reserved: int
    max_unit: int
    allocation_ratio: float


@dataclass(frozen=True)
class BlazarHost:
    """A compute host.

    :ivar host_id: id of the hypervisor, a number as text
    :ivar name: of the hypervisor
    :ivar properties: extra capabilities
    """

    host_id: str
    name: str | None
    vcpus: int
    memory_mb: int
    local_gb: int
    cpu_info: str
    hypervisor_type: str
    hypervisor_version: int
    service_name: str | None
    availability_zone: str
    trust_id: str | None
    reservable: bool
    created_at: int | None
    updated_at: int | None
    properties: Mapping[str, str]
    inventories: tuple[Inventory, ...]
    traits: tuple[str, ...]


@dataclass(frozen=True)
class BlazarFloatingIp:
    """A floating IP that may be reserved."""

    floating_ip_id: str
    floating_network_id: str
    subnet_id: str | None
    address: str
    reservable: bool
    created_at: int | None
    updated_at: int | None


@dataclass(frozen=True)
class BlazarReservation:
    """A reservation of a lease.

    :ivar terms: columns of the table for its resource type; None if it has no row there
    :ivar hosts: id of the host of each allocation, in the order of the hosts
    :ivar floating_ips: id of the floating IP of each allocation
    """

    reservation_id: str
    resource_type: str
    resource_id: str | None
    missing_resources: bool
    resources_changed: bool
    created_at: int | None
    updated_at: int | None
    terms: Mapping[str, Any] | None
    hosts: tuple[str, ...] = ()
    floating_ips: tuple[str, ...] = ()


@dataclass(frozen=True)
class BlazarLease:
    """A lease.

    :ivar status: status in Blazar, such as ``PENDING``
    :ivar before_end: instant of the notification that the lease ends soon; None if there is none
    :ivar before_end_done: whether that notification has been sent, or was tried
    """

    lease_id: str
    name: str
    user_id: str | None
    project_id: str | None
    trust_id: str | None
    start: int
    end: int
    status: str | None
    degraded: bool
    created_at: int | None
    updated_at: int | None
    before_end: int | None
    before_end_done: bool
    reservations: tuple[BlazarReservation, ...]


@dataclass(frozen=True)
class Contents:
    """Everything that is read.

    :ivar private_properties: names of the properties of hosts that only administrators see
    :ivar leases: all leases, including those that have ended
    """

    hosts: tuple[BlazarHost, ...]
    private_properties: frozenset[str]
    floating_ips: tuple[BlazarFloatingIp, ...]
    leases: tuple[BlazarLease, ...]
