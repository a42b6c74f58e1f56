"""Leases: what is asked for, and what has become of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain, islice
from typing import TypeVar

from lease_scheduler.model.attributes import Amount, Choice, Flag, Pairs, attribute
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.model.states import (
    FINAL_STATES,
    LeaseState,
    check_transition,
)

#: A host by its number or name.
Place = TypeVar("Place")

#: Duration of a lease without end: 100 years, as in Haizea (Sotomayor 2010, section 4.1.1).
UNLIMITED = 100 * 365 * 86_400


class LeaseKind(Enum):
    """The four kinds of lease; the value is the word that users see."""

    RESERVATION = "reservation"
    IMMEDIATE = "immediate"
    DEADLINE = "deadline"
    BEST_EFFORT = "best-effort"

    __hash__ = object.__hash__


class PreemptionMode(Enum):
    """What happens to a preemptible lease that has to make room.

    ``SHELVE`` puts disks into the image store, from where the servers begin again on any host. ``SUSPEND`` saves the
    memory, as in Haizea. ``STOP`` switches the servers off and leaves them where they are. ``DELETE`` lets the work
    start over. ``MIGRATE`` moves running servers to other hosts if there are free ones, and shelves them if not.
    ``NONE`` refuses.
    """

    SHELVE = "shelve"
    SUSPEND = "suspend"
    STOP = "stop"
    DELETE = "delete"
    MIGRATE = "migrate"
    NONE = "none"

    __hash__ = object.__hash__

    @property
    def saves_state(self) -> bool:
        """Whether the work goes on later where it was interrupted, or at least with its disks."""
        return self not in (PreemptionMode.DELETE, PreemptionMode.NONE)

    @property
    def leaves_host(self) -> bool:
        """Whether what is saved is kept apart from the hosts, so that it survives them and any of them can go on."""
        return self in (PreemptionMode.SHELVE, PreemptionMode.MIGRATE)


@dataclass(frozen=True)
class DiskImage:
    """The software of a lease: an image by its id, size in MB (haizea F7)."""

    image_id: str
    size_mb: int


@dataclass(frozen=True)
class Boot:
    """What some servers of a node set begin from.

    :ivar image: the disk image that the cloud brings to their hosts, none if they need none there
    :ivar count: how many servers, none for all that are left
    """

    image: DiskImage | None
    count: int | None = None


@dataclass(frozen=True)
class NodeSet:
    """A number of equal VMs (haizea F5).

    :ivar count: how many, at least 1
    :ivar resources: what each of them needs
    :ivar required_traits: attributes that its host must have
    :ivar hosts: names of the hosts that may be used, none if any
    :ivar per_host: how many VMs of this set may share a host, none if as many as fit
    :ivar boots: what the servers on its VMs begin from, in the order of the VMs, where the cloud boots them and brings
        images itself; see ``LeaseRequest.software`` for images that somebody else brings
    """

    count: int
    resources: Resources
    required_traits: frozenset[str] = frozenset()
    hosts: frozenset[str] | None = None
    per_host: int | None = None
    boots: tuple[Boot, ...] = ()

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidValueError("nodes.count", f"must be at least 1, not {self.count}")
        if self.per_host is not None and self.per_host < 1:
            raise InvalidValueError("nodes.per_host", f"must be at least 1, not {self.per_host}")
        if not self.resources:
            raise InvalidValueError("nodes.resources", "must name at least one resource class")

    @property
    def servers_per_vm(self) -> int:
        """Instances that are to be on one host are planned as one VM."""
        share = self.resources.get(HOST_SHARE, 1)
        return max(share, 1) if share < WHOLE_HOST else 1

    def images(self) -> Iterator[frozenset[DiskImage]]:
        """What each VM's servers begin from, one VM after the other."""
        servers = (
            boot.image
            for boot in self.boots
            for _ in range(self.count * self.servers_per_vm if boot.count is None else boot.count)
        )
        for _ in range(self.count):
            of_vm = frozenset(islice(servers, self.servers_per_vm))
            yield frozenset(image for image in of_vm if image is not None)


@dataclass(frozen=True)
class LeaseRequest:
    """The terms of a lease as its consumer asks for them (haizea F6; Sotomayor 2010, section 3.2).

    All instants and durations are whole seconds.

    :ivar lease_id: unique id
    :ivar kind: which promise is asked for
    :ivar nodes: the VMs, as sets of equal ones; a reservation may have none, it then lives its life and holds nothing
    :ivar submitted: when the request arrived
    :ivar duration: how long the VMs must run, without any overhead
    :ivar start: reservation: exact start; deadline: earliest start; else none
    :ivar deadline: deadline leases: when the full duration must have been delivered
    :ivar preemptible: whether the lease may be interrupted
    :ivar preemption_mode: how it is interrupted
    :ivar user: consumer, for per-user policies; none if unknown
    :ivar price: what the consumer pays, fixed once it is quoted; none if not priced
    :ivar max_price: the most that the consumer would pay, none if he was not asked
    :ivar retained: how much of the price is not for node-hours: what was not given back when there became fewer
    :ivar software: disk image, none if not managed
    :ivar moves_others: whether other promises of which nothing has begun are moved off its hosts, as for maintenance;
        only for reservations that name their hosts
    :ivar extras: further attributes, passed through untouched
    :raises InvalidValueError: naming the field that is wrong
    """

    lease_id: str
    kind: LeaseKind
    nodes: tuple[NodeSet, ...]
    submitted: int
    duration: int = UNLIMITED
    start: int | None = None
    deadline: int | None = None
    preemptible: bool = field(
        default=False,
        metadata=attribute(Flag(), "1.2", is_filtered=True, help="Other leases may preempt the lease"),
    )
    preemption_mode: PreemptionMode = field(
        default=PreemptionMode.SUSPEND,
        metadata=attribute(Choice(PreemptionMode), "1.2", help="What preemption does to the servers of the lease"),
    )
    user: str | None = None
    price: float | None = field(
        default=None, metadata=attribute(Amount(), shown="1.12", is_computed=True, is_notified=True)
    )
    max_price: float | None = field(
        default=None,
        metadata=attribute(
            Amount(),
            "1.12",
            changed="1.15",
            help="Most that the lease may cost, where leases have prices; a request for which it costs more is refused",
        ),
    )
    retained: float = 0.0
    software: DiskImage | None = None
    moves_others: bool = False
    extras: Mapping[str, str] = field(
        default_factory=dict,
        hash=False,
        metadata=attribute(
            Pairs(64, 64, 1_024), "1.2", shown="1.16", help="Anything to keep with the lease; repeat for more"
        ),
    )

    def __post_init__(self) -> None:
        if not self.nodes and self.kind is not LeaseKind.RESERVATION:
            raise InvalidValueError("nodes", "a lease needs at least one node; only reservations may do without")
        if self.duration <= 0:
            raise InvalidValueError("duration", f"must be at least 1 s, not {self.duration}")
        if self.submitted < 0:
            raise InvalidValueError("submitted", f"must not be negative, not {self.submitted}")
        if self.start is not None and self.start < 0:
            raise InvalidValueError("start", f"must not be negative, not {self.start}")
        needs_start = self.kind in (LeaseKind.RESERVATION, LeaseKind.DEADLINE)
        if needs_start and self.start is None:
            raise InvalidValueError("start", "reservations and deadline leases need one")
        if not needs_start and self.start is not None:
            raise InvalidValueError("start", "immediate and best-effort leases have none; leave it out")
        if (self.kind is LeaseKind.DEADLINE) != (self.deadline is not None):
            raise InvalidValueError("deadline", "deadline leases need one, other kinds have none")
        if self.deadline is not None and self.start is not None and self.deadline - self.start < self.duration:
            raise InvalidValueError(
                "deadline", f"must be at least start + duration = {self.start + self.duration}, not {self.deadline}"
            )
        if self.moves_others and self.kind is not LeaseKind.RESERVATION:
            raise InvalidValueError("moves_others", "only a reservation may move others out of its way")
        if self.moves_others and any(node_set.hosts is None for node_set in self.nodes):
            raise InvalidValueError("moves_others", "every node set must name its hosts")

    @property
    def node_count(self) -> int:
        """How many VMs the lease has."""
        return sum(node_set.count for node_set in self.nodes)

    @property
    def charged_nodes(self) -> int:
        """How many VMs a price is for; addresses are no VMs."""
        return sum(node_set.count for node_set in self.nodes if FLOATING_IP not in node_set.resources)

    @property
    def image_ids(self) -> frozenset[str]:
        """All images that some of its VMs begin from, whoever brings them."""
        of_nodes = {boot.image.image_id for node_set in self.nodes for boot in node_set.boots if boot.image is not None}
        return frozenset(of_nodes if self.software is None else {*of_nodes, self.software.image_id})

    def images_on(self, hosts: Sequence[Place]) -> dict[DiskImage, frozenset[Place]]:
        """Where each of its images is needed.

        :param hosts: where each VM is
        """
        found: dict[DiskImage, set[Place]] = {}
        if self.software is not None:
            found[self.software] = set(hosts)
        of_vms = chain.from_iterable(node_set.images() for node_set in self.nodes)
        for host, images in zip(hosts, of_vms, strict=False):
            for image in images:
                found.setdefault(image, set()).add(host)
        return {image: frozenset(places) for image, places in found.items()}

    @property
    def node_hours(self) -> float:
        """Hours that all its VMs together are asked for (haizea F78)."""
        return self.charged_nodes * self.duration / 3_600

    def total(self, resource_class: str) -> int:
        """What all VMs together need of one class."""
        return sum(node_set.count * node_set.resources.get(resource_class, 0) for node_set in self.nodes)


def derive_kind(*, submitted: int, start: int | None, now: bool, duration: int, deadline: int | None) -> LeaseKind:
    """The kind that the terms alone imply (Sotomayor 2010, section 3.2.1).

    ``now`` is immediate. With a deadline: a reservation if nothing is left to choose, else a deadline lease
    (whose start, if not given, is the submission). Without: an exact start is a reservation, none is best-effort.
    """
    if now:
        return LeaseKind.IMMEDIATE
    if deadline is not None:
        earliest = submitted if start is None else start
        return LeaseKind.RESERVATION if deadline - earliest == duration else LeaseKind.DEADLINE
    return LeaseKind.BEST_EFFORT if start is None else LeaseKind.RESERVATION


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease and what has become of it so far (haizea F14).

    :ivar request: its terms
    :ivar sequence: position in the order of submission; breaks every tie
    :ivar state: where it is in its life
    :ivar accumulated: seconds that its VMs have run so far, of work that is not lost
    :ivar started: when it first became active
    :ivar ended: when it reached a final state
    :ivar active_since: when its present run began, none if it does not run
    :ivar reservations: what is held for it now and later, earliest first
    :ivar saved_on: host index of each VM's saved memory while it is suspended
    :ivar offered_until: of a lease that is held for its consumer until he accepts it: when the offer ends. Until then
        nothing of it begins
    :ivar reason: why it is in this state, for people
    :ivar negotiation: what the offers to one consumer have in common of which he may accept one: the id of the lease
        that was asked for; none if it is not one of several
    :ivar missing_since: of a lease that does without some of its nodes: since when
    :ivar missing_nodes: how many these are
    :ivar penalties: money that the provider owes for its terms that were not kept
    """

    request: LeaseRequest
    sequence: int
    state: LeaseState = LeaseState.NEW
    accumulated: int = 0
    started: int | None = None
    ended: int | None = None
    active_since: int | None = None
    holdings: tuple[Holding, ...] = ()
    saved_on: tuple[int, ...] | None = None
    reason: str = ""
    offered_until: int | None = None
    negotiation: str | None = None
    missing_since: int | None = None
    missing_nodes: int = 0
    penalties: float = 0.0

    @property
    def lease_id(self) -> str:
        """The id of the request."""
        return self.request.lease_id

    @property
    def kind(self) -> LeaseKind:
        """The kind of the request."""
        return self.request.kind

    @property
    def remaining(self) -> int:
        """Seconds that its VMs still have to run."""
        return self.request.duration - self.accumulated

    @property
    def is_final(self) -> bool:
        """Whether nothing can happen to it any more."""
        return self.state in FINAL_STATES

    @property
    def is_offered(self) -> bool:
        """Whether it waits for its consumer's word."""
        return self.offered_until is not None

    @property
    def is_prepared(self) -> bool:
        """Whether its VMs boot ahead of its start, or have booted."""
        first = self.holdings[0] if self.holdings else None
        return self.state is LeaseState.READY and first is not None and first.start < first.run_start

    def to(self, *states: LeaseState, reason: str = "", holdings: tuple[Holding, ...] | None = None) -> Lease:
        """The lease after going through the states one after the other.

        :param reservations: what is held for it now, if that changes with its state

        :raises IllegalTransitionError: a step that the state machine does not have
        """
        current = self.state
        for state in states:
            check_transition(self.request.lease_id, current, state)
            current = state
        held = self.holdings if holdings is None else holdings
        return replace(self, state=current, reason=reason, holdings=held)
