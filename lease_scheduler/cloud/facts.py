"""What a cloud tells the service of its hosts, flavors, images and servers, and of what happens to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lease_scheduler.engine.interfaces import EventKind
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.records.pool import ProviderRecord


@dataclass(frozen=True)
class Hypervisor:
    """A compute host as the cloud describes it.

    :ivar capacity: resource class -> amount that may be held, without the capacity of its nested providers
    :ivar hypervisor_id: its id in the cloud, empty if it has none
    :ivar providers: its nested resource providers, such as GPUs
    """

    name: str
    vcpus: int
    memory_mb: int
    local_gb: int
    capacity: Mapping[str, int]
    max_unit: Mapping[str, int] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    hypervisor_type: str = ""
    hypervisor_version: int = 0
    cpu_info: str = "{}"
    service_name: str = ""
    availability_zone: str | None = None
    servers: int = 0
    hypervisor_id: str = ""
    providers: tuple[ProviderRecord, ...] = ()


@dataclass(frozen=True)
class Flavor:
    """What one server of a flavor needs.

    :ivar groups: resources that must come from one provider each
    :ivar problem: why servers in a lease would lack something that the flavor asks for, or None
    :ivar private_to: ids of the only projects that may use it, or None if all may
    """

    resources: Mapping[str, int]
    traits: frozenset[str] = frozenset()
    groups: tuple[ProviderGroup, ...] = ()
    problem: str | None = None
    private_to: frozenset[str] | None = None

    def is_for(self, project_id: str) -> bool:
        """Return whether a project may use it."""
        return self.private_to is None or project_id in self.private_to


@dataclass(frozen=True)
class ImageFacts:
    """What an image service says about a disk image.

    :ivar size_mb: MB to copy when it is transferred to a host, or None if not known
    :ivar stored_mb: MB that it takes in its store, or 0 if not known
    :ivar min_disk_gb: smallest disk that it fits on, in GB
    :ivar min_memory_mb: smallest memory that it runs with, in MB
    :ivar exists: whether there is such an image
    :ivar private_to: ids of the only projects that may boot from it, or None if all may
    """

    size_mb: int | None = None
    stored_mb: int = 0
    min_disk_gb: int = 0
    min_memory_mb: int = 0
    exists: bool = True
    private_to: frozenset[str] | None = None

    def is_for(self, project_id: str) -> bool:
        """Return whether servers of a project can boot from it, as far as is known."""
        return self.exists and (self.private_to is None or project_id in self.private_to)


@dataclass(frozen=True)
class Footprint:
    """What a lease has in the cloud.

    :ivar servers: ``active``, ``saved`` or ``none``
    :ivar hosts: names of the hosts held for it
    """

    lease_id: str
    servers: str
    hosts: frozenset[str]


@dataclass(frozen=True)
class DriverEvent:
    """An event in the cloud without an order of the engine.

    :ivar kind: the servers of a lease are gone (``ENDED``), or a host went down, was closed to new servers or came back
    :ivar host: name of the host concerned
    """

    kind: EventKind
    lease_id: str | None = None
    host: str | None = None
    reason: str = ""


@dataclass(frozen=True)
class LeaseOnHosts:
    """A running lease whose servers are to be found.

    :ivar hosts: names of the compute hosts that it has for itself
    """

    lease_id: str
    project_id: str
    hosts: frozenset[str] = frozenset()


class Power(Enum):
    """Whether a server can use anything: it runs, its users stopped it, or this is not known."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class LeaseServer:
    """A server of a lease."""

    server_id: str
    power: Power
    vcpus: int = 1
