"""What a cloud must be able to do for the service: small steps that may be repeated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lease_scheduler.cloud.differences import Difference, Presence
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.engine.interfaces import EventKind, Operation
from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.records.documents import LeaseDocument


class WaitingClock(Protocol):
    """A clock that knows how long one has to wait."""

    def now(self) -> int:
        """The present instant."""
        ...

    def seconds_until(self, instant: int) -> float:
        """Real seconds until an instant; 0 if it has come."""
        ...


class StepFailedError(LeaseSchedulerError):
    """A step that will not succeed where it was tried.

    :param host: name of the host that is to blame, none if no single one
    :param gives_up: whether the operator has allowed that servers are deleted that make no room
    """

    def __init__(self, reason: str, host: str | None = None, *, gives_up: bool = False) -> None:
        super().__init__(reason)
        self.host = host
        self.gives_up = gives_up


class HostsOccupiedError(StepFailedError):
    """Hosts that a lease cannot have, because servers are on them that do not give way.

    :ivar servers: name of the host -> ids of these servers, which only operators are told
    """

    def __init__(self, servers: Mapping[str, Collection[str]]) -> None:
        self.servers = {host: tuple(sorted(ids)) for host, ids in sorted(servers.items())}
        places = (f"{', '.join(ids)} on {host}" for host, ids in self.servers.items())
        super().__init__(f"servers do not give way: {'; '.join(places)}", next(iter(self.servers), None))


@dataclass(frozen=True)
class Order:
    """An operation with all that a cloud needs to carry it out.

    :ivar intent_id: its number
    :ivar operation: what to do; none to destroy everything of the lease
    :ivar is_over: whether the lease has come to its end, so that nothing is kept for another attempt
    :ivar without: names of hosts of the plan that the lease does without, because others are on them
    :ivar document: what the consumer said of it; none if the lease is not known (any more)
    :ivar hosts: name of the host of each VM
    :ivar start: when the consumer's own servers may begin
    :ivar step: the first step that is not known to be done
    """

    intent_id: int
    lease_id: str
    operation: Operation | None
    hosts: tuple[str, ...] = ()
    request: LeaseRequest | None = None
    document: LeaseDocument | None = None
    step: int = 0
    start: int = 0
    is_over: bool = False
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Expectation:
    """A lease, with all that is needed to know what it should have in the cloud.

    :ivar order: an order to follow the plan
    :ivar until: the end that the cloud is told, None if it is told none
    """

    order: Order
    presence: Presence
    until: int | None = None


@dataclass(frozen=True)
class Hypervisor:
    """A compute host as the cloud describes it.

    :ivar capacity: resource class -> amount that may be held
    :ivar hypervisor_id: by which the cloud itself knows it, empty if it has no id
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


@dataclass(frozen=True)
class Flavor:
    """A flavor of the cloud: what one server of it needs."""

    resources: Mapping[str, int]
    traits: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ImageFacts:
    """What an image service says of a disk image.

    :ivar size_mb: what has to be copied to bring it to a host, None if nobody knows
    :ivar stored_mb: size of what is stored, 0 if nobody knows
    :ivar min_disk_gb: the smallest disk that it is for
    :ivar min_memory_mb: the smallest memory that it is for
    :ivar exists: whether there is such an image
    :ivar private_to: id of the only project that may boot from it, None if others may as well
    """

    size_mb: int | None = None
    stored_mb: int = 0
    min_disk_gb: int = 0
    min_memory_mb: int = 0
    exists: bool = True
    private_to: str | None = None

    def is_for(self, project_id: str) -> bool:
        """Whether servers of a project can boot from it, as far as that is known."""
        return self.exists and self.private_to in (None, project_id)


@dataclass(frozen=True)
class Footprint:
    """What exists of a lease in the cloud.

    :ivar servers: ``active``, ``saved`` or ``none``
    :ivar hosts: names of the hosts held for it
    """

    lease_id: str
    servers: str
    hosts: frozenset[str]


@dataclass(frozen=True)
class ImageOrder:
    """A disk image to be brought to the caches of hosts, ahead of the servers that boot from it.

    :ivar number: tells it from others of the same engine
    :ivar hosts: names of the compute hosts
    :ivar begun: when the order was given
    :ivar due: when the image is there, as far as one can tell from its size
    """

    number: int
    image_id: str
    hosts: frozenset[str]
    begun: int
    due: int


@dataclass(frozen=True)
class ImageProgress:
    """How far the bringing of an image is.

    :ivar there: names of the hosts that have it by now
    :ivar failed: hosts that do not get it -> why
    :ivar is_over: whether nothing more is to come; then each host is one or the other
    """

    there: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)
    is_over: bool = False


@dataclass(frozen=True)
class DriverEvent:
    """Something that happened in the cloud without the engine having asked for it.

    :ivar kind: the servers of a lease are gone (``ENDED``), a host went down, is closed to anything new or came back
    :ivar host: name of the host concerned
    """

    kind: EventKind
    lease_id: str | None = None
    host: str | None = None
    reason: str = ""


class Driver(Protocol):
    """A cloud. Every call may be repeated, from another process too, and finds by name what an earlier one made."""

    def steps(self, operation: Operation | None) -> tuple[str, ...]:
        """Names of the steps of an operation, in order."""
        ...

    def perform(self, order: Order, step: str) -> int | None:
        """Do a step, or see how far it is.

        :return: none when it is done, else the instant at which to ask again
        :raises StepFailedError: it cannot be done there
        """
        ...

    def footprints(self) -> Iterable[Footprint]:
        """What exists of all leases."""
        ...

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        """Compare what is made in the cloud for leases with what should be there; nothing is changed.

        :param expectations: leases that are compared; others are left alone
        :param live: number of VMs of each lease that is not over; nothing of these is left over
        :param pool: names of the compute hosts of the pool
        """
        ...

    def mend(self, expectation: Expectation) -> None:
        """Make again what a lease should have that no operation makes: what is remembered of a suspended one."""
        ...

    def remove_left_over(self, left_over: Collection[Difference], live: Mapping[str, int]) -> int:
        """Remove what belongs to no lease; return how many of these things are gone now.

        :param live: number of VMs of each lease that is not over by now; nothing of these is removed
        """
        ...

    def cannot_leave(self) -> str | None:
        """Return why it cannot be told what is there without any lease, or None."""
        ...

    def leave(self, *, keep_providers: bool = False) -> frozenset[str]:
        """Remove what is there without any lease, once there are neither leases nor hosts in the pool.

        :param keep_providers: whether empty resource providers stay
        :return: names of the hosts whose compute services have to be told that something of theirs is gone
        """
        ...

    def hypervisors(self, names: Collection[str] | None = None) -> Iterable[Hypervisor]:
        """Compute hosts, those outside the pool included: the named ones that there are, or all."""
        ...

    def set_pool(self, names: Collection[str]) -> None:
        """Have the cloud keep exactly these compute hosts for leases."""
        ...

    def pool(self) -> frozenset[str]:
        """Names of the compute hosts that the cloud keeps for leases now, whoever said so."""
        ...

    def announce(self, starts: Mapping[str, int]) -> None:
        """Tell the cloud when leases begin soon, so that others who may use the hosts until then choose well.

        :param starts: name of the compute host -> instant
        """
        ...

    def tell_ends(self, ends: Mapping[str, int | None]) -> None:
        """Tell the cloud when leases end, so that nobody begins anything in them later, even if no engine runs then.

        :param ends: lease -> instant; None while its servers are started or brought back, which may take any time
        """
        ...

    def flavors(self) -> Mapping[str, Flavor]:
        """All flavors by id."""
        ...

    def image_facts(self, image_id: str) -> ImageFacts | None:
        """Return what is known of a disk image, or None if there is nobody to ask."""
        ...

    def carry(self, order: ImageOrder) -> ImageProgress:
        """Begin to bring an image to the caches of hosts, or see how far that is; called again until it is over.

        What is over is forgotten; an order that another engine had given may still be going on.

        :raises StepFailedError: it cannot be brought
        """
        ...

    def clear_carried(self) -> None:
        """Remove what is left of orders to bring images that an engine gave which is no more."""
        ...

    def make_groups(self, lease: Mapping[str, Any]) -> Mapping[str, str]:
        """Make groups of servers for the reservations of a new lease that say which of them are together.

        :param lease: lease document
        :return: reservation -> id of its group, which its consumer is told
        :raises RefusedError: the cloud makes no more of them
        """
        ...

    def remove_groups(self, groups: Iterable[str]) -> None:
        """Remove groups that were made for a lease that was refused; those of other leases go with the rest of it."""
        ...

    def aggregate_ids(self, lease_id: str, reservations: Collection[str]) -> Mapping[str, int]:
        """Return reservation -> id of the group of hosts in the cloud that has its instances, as far as there is one.

        :param reservations: ids of reservations of instances, all of this lease
        """
        ...

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """Begin to tell what happens; calls come from threads of the driver's.

        :param observer: is told of what else is seen, by drivers that see it
        """
        ...

    def stop(self) -> None:
        """Tell nothing more."""
        ...
