"""What the service keeps of leases beside the plan: plain values, the same for every store and cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lease_scheduler.engine.interfaces import Operation
from lease_scheduler.model.attributes import Choice, Flag, Text, attribute
from lease_scheduler.model.breach import Breach
from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.transfers.caches import CachedImage


class DeposedError(LeaseSchedulerError):
    """Another engine has taken over the site; this one may write nothing any more."""


#: What is done before the end of a reservation of hosts: images are made of its servers, or what the operator says.
_SNAPSHOT, _DEFAULT = "snapshot", "default"


@dataclass(frozen=True)
class ReservationRecord:
    """One reservation of a lease, as the tenant named it.

    :ivar terms: the keys of its resource type (anchors: Blazar's API v1)
    :ivar node_sets: how many of the lease's node sets are its, in order
    :ivar first_node: number of its first VM among those of the lease
    :ivar node_count: how many VMs are its
    """

    reservation_id: str
    resource_type: str
    resource_id: str
    terms: Mapping[str, Any]
    node_sets: int
    created_at: int
    first_node: int = 0
    node_count: int = 0
    updated_at: int | None = None
    missing_resources: bool = False
    resources_changed: bool = False


@dataclass(frozen=True)
class LeaseDocument:
    """What a project says of a lease beside the terms that are planned with.

    :ivar request_digest: of a lease whose id its client has chosen: what tells its request from any other
    """

    lease_id: str
    name: str = field(metadata=attribute(Text(255, is_name=True), "1.0", is_notified=True, is_filtered=True))
    project_id: str = field(metadata=attribute(Text(255), shown="1.0", is_notified=True, is_filtered=True))
    user_id: str = field(metadata=attribute(Text(255), shown="1.0", is_notified=True, is_filtered=True))
    created_at: int
    trust_id: str | None = field(
        default=None, metadata=attribute(Text(255), shown="1.0", is_notified=True, is_filtered=True)
    )
    maintenance: bool = field(default=False, metadata=attribute(Flag(), shown="1.2"))
    before_end: int | None = None
    before_end_done: bool = False
    servers: tuple[Mapping[str, Any], ...] = ()
    description: str | None = field(
        default=None, metadata=attribute(Text(255), "1.18", is_notified=True, help="What the lease is for")
    )
    request_digest: str | None = field(default=None, metadata=attribute(Text(64)))
    on_end: str = field(
        default="delete",
        metadata=attribute(
            Choice(("delete", "shelve", "snapshot", "keep")),
            "1.3",
            help="What the end of the lease does to its servers (default: delete)",
        ),
    )
    series_id: str | None = field(default=None, metadata=attribute(Text(36), shown="1.9", is_filtered=True))
    degraded: bool = field(default=False, metadata=attribute(Flag(), shown="1.0", is_computed=True, is_notified=True))
    reservations: tuple[ReservationRecord, ...] = ()
    updated_at: int | None = None
    deleted_at: int | None = None

    @property
    def server_groups(self) -> frozenset[str]:
        """Ids of the groups in the cloud that its servers may be in."""
        found = (record.terms.get("server_group_id") for record in self.reservations)
        return frozenset(str(group) for group in found if group is not None)

    def with_term(self, key: str, values: Mapping[str, Any]) -> LeaseDocument:
        """Return the document with other values of a term, by reservation; itself if nothing differs."""
        reservations = tuple(
            replace(record, terms={**record.terms, key: values[record.reservation_id]})
            if record.reservation_id in values and record.terms.get(key) != values[record.reservation_id]
            else record
            for record in self.reservations
        )
        return self if reservations == self.reservations else replace(self, reservations=reservations)

    def saved_nodes(self, *, by_default: bool) -> frozenset[int]:
        """Numbers of the VMs on whose hosts images are made of the servers before the end.

        :param by_default: whether that is so for reservations that leave it to the operator
        """
        wanted = {_SNAPSHOT, _DEFAULT} if by_default else {_SNAPSHOT}
        return frozenset(
            number
            for record in self.reservations
            if record.terms.get("before_end") in wanted
            for number in range(record.first_node, record.first_node + record.node_count)
        )

    @property
    def has_something_in_the_cloud(self) -> bool:
        """Whether there is something of it before it begins."""
        return self.trust_id is not None or bool(self.server_groups)


@dataclass(frozen=True)
class HostRecord:
    """A compute host of the pool.

    :ivar capacity: what leases may use of it, by resource class
    :ivar max_unit: most of a class that one VM may take
    :ivar properties: what operators say of it, for queries
    :ivar out_until: until when it is thought to be out of service, none if it is in service
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
    trust_id: str | None = None
    updated_at: int | None = None


@dataclass(frozen=True)
class FloatingIpRecord:
    """An address of an external network that may be leased."""

    floating_ip_id: str
    floating_network_id: str
    floating_ip_address: str
    created_at: int
    subnet_id: str | None = None
    reservable: bool = True
    updated_at: int | None = None


@dataclass(frozen=True)
class SeriesRecord:
    """A lease that repeats by a rule (iCalendar RRULE).

    :ivar template: the lease document of an occurrence, without times
    :ivar planned_until: occurrences up to this instant have been asked for
    """

    series_id: str
    project_id: str
    user_id: str
    name: str
    rule: str
    template: Mapping[str, Any]
    planned_until: int
    created_at: int
    deleted_at: int | None = None


@dataclass(frozen=True)
class Intent:
    """Something the cloud has been told to do.

    :ivar intent_id: unique in the site, in the order in which they were given
    :ivar operation: what; none to destroy everything of the lease
    :ivar step: number of the next step to be done
    """

    intent_id: int
    lease_id: str
    operation: Operation | None
    step: int = 0


@dataclass(frozen=True)
class Transition:
    """A change of a lease's state."""

    lease_id: str
    instant: int
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class UsageRecord:
    """Hosts that a lease occupied in ``[start, end)``.

    :ivar resources: what all its VMs together held, by resource class
    :ivar hosts: host of each VM
    """

    lease_id: str
    project_id: str
    kind: str
    phase: str
    start: int
    end: int
    nodes: int
    resources: Mapping[str, int]
    hosts: tuple[int, ...]


@dataclass(frozen=True)
class RevenueRecord:
    """What a lease that is over has earned, or what was not earned by one that did not come about (haizea F82).

    :ivar outcome: ``earned``; ``rejected``, there was no place; ``rejected_by_user``
    :ivar price: none if nothing was quoted
    :ivar max_price: what its consumer would have paid at most, none if that is not known
    """

    lease_id: str
    project_id: str
    instant: int
    outcome: str
    price: float | None
    max_price: float | None


@dataclass(frozen=True)
class BreachRecord:
    """A term of a lease that was not kept (see ``model.breach.Breach``)."""

    project_id: str
    breach: Breach


#: What the types of messages begin with that are for filters of leases; all others are notifications.
FOR_FILTERS = "enforcement."


@dataclass(frozen=True)
class Message:
    """Something that waits to be told to somebody outside, until that has succeeded."""

    event_type: str
    payload: Mapping[str, Any]


@dataclass
class StoreChanges:
    """Everything that one transaction writes.

    Hosts are named by their number in the plan, as in leases. A record that is none is removed.

    :ivar pricing: what a pricing policy has learnt, by its name and the subject
    :ivar lateness: seconds by which operations were late, by kind
    :ivar cached_images: what a host has in its cache of images, by host and image
    :ivar deleted: leases that had come to their end before and are now taken from the lists, with the instant
    """

    instant: int
    leases: dict[str, Lease] = field(default_factory=dict)
    documents: dict[str, LeaseDocument] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    begun: list[Intent] = field(default_factory=list)
    over: list[int] = field(default_factory=list)
    usage: list[UsageRecord] = field(default_factory=list)
    revenue: list[RevenueRecord] = field(default_factory=list)
    breaches: list[BreachRecord] = field(default_factory=list)
    pricing: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    lateness: dict[str, list[int]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    hosts: dict[int, HostRecord | None] = field(default_factory=dict)
    floating_ips: dict[str, FloatingIpRecord | None] = field(default_factory=dict)
    private_properties: dict[tuple[str, str], bool] = field(default_factory=dict)
    series: dict[str, SeriesRecord] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    cached_images: dict[tuple[int, str], CachedImage | None] = field(default_factory=dict)

    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (
            self.leases
            or self.documents
            or self.transitions
            or self.begun
            or self.over
            or self.usage
            or self.revenue
            or self.breaches
            or self.pricing
            or self.lateness
            or self.messages
            or self.hosts
            or self.floating_ips
            or self.private_properties
            or self.series
            or self.deleted
            or self.cached_images
        )


@dataclass(frozen=True)
class Snapshot:
    """What an engine needs to go on where another one stopped.

    :ivar leases: those that have not come to their end, with host ids in place of host numbers resolved by ``units``
    :ivar documents: of these, and of those that are being removed from the cloud
    :ivar pricing: what pricing policies have learnt, by policy and subject
    :ivar lateness: seconds by which operations were late, by kind
    :ivar cached_images: what hosts are thought to have in their caches
    :ivar next_sequence: order number of the next lease
    :ivar next_intent: number of the next intent
    """

    leases: tuple[Lease, ...]
    documents: Mapping[str, LeaseDocument]
    intents: tuple[Intent, ...]
    hosts: tuple[HostRecord, ...]
    floating_ips: tuple[FloatingIpRecord, ...]
    private_properties: Mapping[tuple[str, str], bool]
    series: tuple[SeriesRecord, ...]
    next_sequence: int
    next_intent: int
    clock: int
    pricing: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    lateness: Mapping[str, list[int]] = field(default_factory=dict)
    cached_images: tuple[CachedImage, ...] = ()
