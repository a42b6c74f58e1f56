"""Hosts and floating IPs of the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lease_scheduler.model.power import HostPower
from lease_scheduler.model.providers import together

#: Instant that stands for the end of an outage when it is unknown.
FOR_GOOD = 2**62


@dataclass(frozen=True)
class ProviderRecord:
    """A nested resource provider of a compute host, such as a GPU.

    :ivar name: its name in the cloud
    :ivar capacity: amount that leases may use, by resource class
    :ivar max_unit: maximum amount that one server may use, by resource class
    """

    name: str
    capacity: Mapping[str, int]
    max_unit: Mapping[str, int] = field(default_factory=dict)
    traits: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostRecord:
    """A compute host of the pool.

    :ivar capacity: amount that leases may use, by resource class, without its nested providers
    :ivar max_unit: maximum amount that one node may use, by resource class
    :ivar properties: properties that operators set and that queries in requests can test
    :ivar providers: its nested resource providers
    :ivar out_until: expected end of its outage, ``FOR_GOOD`` when unknown; None while it is in service
    :ivar pool: name of its pool; None if the site has only one
    :ivar power: its power state; None if it has never been told to sleep
    """

    host_id: int
    name: str
    vcpus: int
    memory_mb: int
    local_gb: int
    created_at: int
    capacity: Mapping[str, int]
    max_unit: Mapping[str, int] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    hypervisor_type: str = ""
    hypervisor_version: int = 0
    cpu_info: str = ""
    service_name: str = ""
    availability_zone: str | None = None
    reservable: bool = True
    out_until: int | None = None
    power: HostPower | None = None
    trust_id: str | None = None
    updated_at: int | None = None
    providers: tuple[ProviderRecord, ...] = ()
    pool: str | None = None

    @property
    def whole_capacity(self) -> Mapping[str, int]:
        """Amount that leases may use of the host and its nested providers together, by resource class."""
        return together(self.capacity, (provider.capacity for provider in self.providers))


@dataclass(frozen=True)
class FloatingIpRecord:
    """An address of an external network that may be leased.

    :ivar pool: name of its pool; None if the site has only one
    """

    floating_ip_id: str
    floating_network_id: str
    floating_ip_address: str
    created_at: int
    subnet_id: str | None = None
    reservable: bool = True
    updated_at: int | None = None
    pool: str | None = None
