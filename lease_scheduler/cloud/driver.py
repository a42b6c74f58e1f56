"""The interface between the service and a cloud, made of small steps that can be repeated without harm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from lease_scheduler.cloud.capabilities import (
    Aggregates,
    Announcements,
    Devices,
    Events,
    ImageCaches,
    Images,
    NoAggregates,
    NoAnnouncements,
    NoDevices,
    NoEvents,
    NoFlavors,
    NoImageCaches,
    NoImages,
    NoRepair,
    NoServerGroups,
    NoShares,
    NoUninstall,
    NoUsage,
    Repair,
    ServerGroups,
    Shares,
    Uninstall,
    Usage,
)
from lease_scheduler.cloud.facts import Flavor, Footprint, Hypervisor
from lease_scheduler.cloud.host_services import HostServices, NoHostServices
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.model.errors import LeaseSchedulerError


class StepFailedError(LeaseSchedulerError):
    """A step cannot succeed on the hosts of its order, or cannot succeed at all.

    :param host: name of the host that caused the failure, or None if no single host did
    :param gives_up: whether the operator allows to delete servers that do not give way
    """

    def __init__(self, reason: str, host: str | None = None, *, gives_up: bool = False) -> None:
        super().__init__(reason)
        self.host = host
        self.gives_up = gives_up


class HostsOccupiedError(StepFailedError):
    """A lease does not get hosts, because servers on them do not give way.

    :ivar servers: name of the host -> ids of these servers; empty for a host on which no server is known to be in the
        way. Only operators may see them
    """

    def __init__(self, servers: Mapping[str, Collection[str]]) -> None:
        self.servers = {host: tuple(sorted(ids)) for host, ids in sorted(servers.items())}
        places = (f"{', '.join(ids) or 'none known'} on {host}" for host, ids in self.servers.items())
        super().__init__(f"servers do not give way: {'; '.join(places)}", next(iter(self.servers), None))


class Ability(Enum):
    """What orders of a driver can do beyond giving whole hosts to leases and taking them back.

    The service refuses leases that need an ability which the driver does not declare.
    """

    #: Leases hold parts of hosts, so that several of them share a host.
    PARTS_OF_HOSTS = "parts-of-hosts"
    #: Leases hold floating IPs, which are planned as hosts.
    FLOATING_IPS = "floating-ips"
    #: The servers of managed leases are booted.
    BOOTING = "booting"
    #: Leases are suspended and resumed, and their saved state is moved: ``SUSPEND``, ``RESUME`` and ``MIGRATE``.
    SUSPENDING = "suspending"
    #: Images of servers are made before their lease ends: ``SNAPSHOT``.
    SNAPSHOTS = "snapshots"


class Driver(ABC):
    """Driver of a cloud. Every call may be repeated, even from another process: it finds by name what was made before.

    The abstract methods are the core, which suffices to reserve whole hosts. Everything else is optional: a driver
    declares its abilities, and assigns its capabilities in its constructor. The others are absent.

    :ivar abilities: what its orders can do beyond the core
    :ivar events: reports of events without an order
    :ivar announcements: tells the cloud what is planned
    :ivar shares: divides the CPUs of hosts among servers
    :ivar flavors: all flavors by id
    :ivar devices: gives devices of nested providers to servers
    :ivar images: knows disk images
    :ivar image_caches: brings disk images to hosts
    :ivar server_groups: makes server groups
    :ivar aggregates: knows the host aggregates of leases
    :ivar usage: tells what servers use
    :ivar services: the compute services of the hosts, for hosts that sleep
    :ivar repair: compares details and repairs them
    :ivar uninstall: removes what is there independently of leases
    """

    abilities: frozenset[Ability] = frozenset()
    events: Events = NoEvents()
    announcements: Announcements = NoAnnouncements()
    shares: Shares = NoShares()
    flavors: Mapping[str, Flavor] = NoFlavors()
    devices: Devices = NoDevices()
    images: Images = NoImages()
    image_caches: ImageCaches = NoImageCaches()
    server_groups: ServerGroups = NoServerGroups()
    aggregates: Aggregates = NoAggregates()
    usage: Usage = NoUsage()
    services: HostServices = NoHostServices()
    repair: Repair = NoRepair()
    uninstall: Uninstall = NoUninstall()

    def take_over(self) -> None:  # noqa: B027 - most remember nothing
        """Forget what is remembered of the cloud. An engine calls it before it begins to lead.

        Another engine may have led since this process last did, and have changed anything.
        """

    @abstractmethod
    def steps(self, order: AnyOrder) -> tuple[str, ...]:
        """Return the names of the steps of an order, in the order in which they are done."""

    @abstractmethod
    def perform(self, order: AnyOrder, step: str) -> int | None:
        """Do a step, or check a step that is under way.

        :return: the instant at which to check again, or None when it is done
        :raises StepFailedError: it cannot succeed on these hosts
        """

    @abstractmethod
    def footprints(self) -> Iterable[Footprint]:
        """Return what all leases have in the cloud."""

    @abstractmethod
    def hypervisors(self, names: Collection[str] | None = None) -> Iterable[Hypervisor]:
        """Return the compute hosts with these names that exist, or all hosts, including those outside of the pool."""

    @abstractmethod
    def set_pool(self, names: Collection[str]) -> None:
        """Make exactly these compute hosts the pool for leases."""

    @abstractmethod
    def pool(self) -> frozenset[str]:
        """Return the names of the compute hosts that are in the pool now, including those that others put there."""
