"""Leases: the terms of a request, and the present state of the lease, with what was answered to the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

from lease_scheduler.model.approval import Approval
from lease_scheduler.model.attributes import (
    Amount,
    Choice,
    Flag,
    Keyed,
    Pairs,
    Part,
    Probability,
    Span,
    Text,
    attribute,
)
from lease_scheduler.model.durations import exactly
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import Assured, LeaseKind, PreemptionMode
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.progress import Progress
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.model.states import (
    FINAL_STATES,
    LeaseState,
    check_transition,
)

#: A host, by number or by name.
Place = TypeVar("Place")

#: Duration of a lease without end: 100 years, as in Haizea (Sotomayor 2010, section 4.1.1).
UNLIMITED = 100 * 365 * 86_400


@dataclass(frozen=True)
class LeaseRequest:
    """The terms of a lease as the project requests them (haizea F6; Sotomayor 2010, section 3.2).

    ``Grant`` has what the service answered. All instants and durations are whole seconds.

    :ivar lease_id: unique id
    :ivar kind: kind of lease
    :ivar nodes: the nodes, as sets of identical ones. A reservation may have none; it then holds nothing
    :ivar submitted: instant at which the request arrived
    :ivar duration: seconds that the nodes must run, without any overhead
    :ivar start: exact start of a reservation, earliest start of a deadline lease, None for the other kinds
    :ivar deadline: instant by which a deadline lease must have run for its full duration; None for the other kinds
    :ivar preemptible: whether the lease may be preempted
    :ivar preemption_mode: what happens to the lease when it is preempted
    :ivar user: the project, for policies that treat each project by itself; None if unknown
    :ivar max_price: most the project is willing to pay; None means no limit was given
    :ivar software: disk image that is brought to the hosts before the start; None if images are not managed
    :ivar moves_others: whether leases that have not started are moved off its hosts, as for maintenance; only for
        reservations that name their hosts
    :ivar extras: further attributes, passed on unchanged
    :ivar origin: name of the peer (another site or a gateway) that requests the lease; None if the request is local
    :ivar on_behalf_of: the party for which the peer requests the lease: ``project`` and, if it is known, ``user``, as
        the peer names them, and ``project_id``, the project of this site to which the lease belongs in place of the
        peer's own. None if the peer does not say, or if the request is local
    :ivar pool: name of the pool in which it is planned; None if the site has only one
    :ivar min_lifetime: seconds from its first start for which a preemptible lease is to run without being preempted;
        None if nothing is to be assured
    :ivar assurance: probability of reaching ``min_lifetime``; None if nothing is to be assured
    :ivar await_assurance: whether a best-effort lease waits in the queue until ``min_lifetime`` can be assured
    :ivar min_yield: smallest part of the needed VCPU that a fluid lease holds, from 0 to 1; ``NodeSet.fluid`` is the
        rest. None if it is not fluid
    :raises InvalidValueError: a field has an invalid value
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
    max_price: float | None = field(
        default=None,
        metadata=attribute(
            Amount(),
            "1.12",
            changed="1.15",
            help="Most that the lease may cost, where leases have prices; a request for which it costs more is refused",
        ),
    )
    software: DiskImage | None = None
    moves_others: bool = False
    extras: Mapping[str, str] = field(
        default_factory=dict,
        hash=False,
        metadata=attribute(
            Pairs(64, 64, 1_024), "1.2", shown="1.16", help="Anything to keep with the lease; repeat for more"
        ),
    )
    origin: str | None = field(default=None, metadata=attribute(Text(255), shown="1.19", is_notified=True))
    on_behalf_of: Mapping[str, str] | None = field(
        default=None,
        hash=False,
        metadata=attribute(
            Keyed(["project"], ["user", "project_id"], 255, {"project_id": "1.50"}),
            "1.48",
            changed=None,
            is_notified=True,
            is_filtered=True,
            of_peers=True,
        ),
    )
    pool: str | None = field(
        default=None,
        metadata=attribute(
            Text(64),
            "1.26",
            changed=None,
            is_notified=True,
            is_filtered=True,
            help="Pool that the hosts of the lease are in (default: the first one that grants the lease)",
        ),
    )
    min_lifetime: int | None = field(
        default=None,
        metadata=attribute(
            Span(),
            "1.30",
            changed=None,
            is_notified=True,
            is_filtered=True,
            help="Duration for which the preemptible lease is to run before anybody preempts it, such as 6h; goes with "
            "--assurance",
        ),
    )
    assurance: float | None = field(
        default=None,
        metadata=attribute(
            Probability(),
            "1.30",
            changed=None,
            is_notified=True,
            is_filtered=True,
            help="Probability with which the lease is to reach --min-lifetime, such as 0.95",
        ),
    )
    await_assurance: bool = field(
        default=False,
        metadata=attribute(
            Flag(),
            "1.30",
            changed=None,
            help="The lease waits until its lifetime can be assured; without, it is refused",
        ),
    )
    min_yield: float | None = field(
        default=None,
        metadata=attribute(
            Part(),
            "1.34",
            changed=None,
            help="The preemptible best-effort lease shares CPU with others, and has at least this part of its VCPU, "
            "such as 0.25",
        ),
    )

    def __post_init__(self) -> None:
        if not self.nodes and self.kind is not LeaseKind.RESERVATION:
            raise InvalidValueError("nodes", "must have at least one node; only reservations may have none")
        if self.duration <= 0:
            raise InvalidValueError("duration", f"must be at least 1 s, not {self.duration}")
        if self.submitted < 0:
            raise InvalidValueError("submitted", f"must not be negative, not {self.submitted}")
        if self.start is not None and self.start < 0:
            raise InvalidValueError("start", f"must not be negative, not {self.start}")
        needs_start = self.kind.has_start
        if needs_start and self.start is None:
            raise InvalidValueError("start", "reservations and deadline leases need a start")
        if not needs_start and self.start is not None:
            raise InvalidValueError("start", "immediate and best-effort leases have no start; leave it out")
        if (self.kind is LeaseKind.DEADLINE) != (self.deadline is not None):
            raise InvalidValueError("deadline", "deadline leases need a deadline; other kinds must not have one")
        if self.deadline is not None and self.start is not None and self.deadline - self.start < self.duration:
            left = self.deadline - self.start
            there = exactly(left) if left >= 0 else "before it"
            raise InvalidValueError(
                "deadline", f"must be at least {exactly(self.duration)} after the start, not {there}"
            )
        if self.min_lifetime is not None or self.assurance is not None or self.await_assurance:
            self._check_assurance()
        if self.min_yield is not None or any(node_set.fluid for node_set in self.nodes):
            self._check_fluid()
        if self.kind is not LeaseKind.BEST_EFFORT and any(each.count_range is not None for each in self.nodes):
            raise InvalidValueError(
                "nodes.count_range", f"is for leases that wait for their turn, not for one of kind {self.kind.value}"
            )
        if self.moves_others and self.kind is not LeaseKind.RESERVATION:
            raise InvalidValueError("moves_others", "only reservations may move other leases")
        if self.moves_others and any(node_set.hosts is None for node_set in self.nodes):
            raise InvalidValueError("moves_others", "every node set must name its hosts")

    def _check_fluid(self) -> None:
        if self.min_yield is None or not 0 <= self.min_yield <= 1:
            raise InvalidValueError("min_yield", f"must be from 0 to 1, not {self.min_yield}")
        if self.kind is not LeaseKind.BEST_EFFORT:
            raise InvalidValueError(
                "min_yield",
                f"is for best-effort leases; one of kind {self.kind.value} has all its VCPU; leave it out",
            )
        if not self.may_be_preempted:
            raise InvalidValueError("min_yield", "is for preemptible leases; make this one preemptible or leave it out")

    def _check_assurance(self) -> None:
        if self.min_lifetime is None:
            field_name = "await_assurance" if self.assurance is None else "assurance"
            raise InvalidValueError(field_name, "goes with min_lifetime, the time for which it is assured")
        if self.assurance is None:
            raise InvalidValueError("assurance", "is missing: with which probability is min_lifetime to be reached?")
        if not 0 < self.assurance < 1:
            raise InvalidValueError(
                "assurance",
                f"must be more than 0 and less than 1, not {self.assurance}; only leases that are not preemptible are "
                "certain",
            )
        if self.min_lifetime < 1:
            raise InvalidValueError("min_lifetime", f"must be at least 1 s, not {self.min_lifetime}")
        if not self.may_be_preempted:
            raise InvalidValueError("min_lifetime", "is only for preemptible leases; nobody preempts this one")
        if self.await_assurance and self.kind is not LeaseKind.BEST_EFFORT:
            raise InvalidValueError("await_assurance", "only best-effort leases can wait; leave it out")

    @property
    def may_be_preempted(self) -> bool:
        """Whether the lease may be preempted. One with the preemption mode ``NONE`` is not, whatever it agrees to."""
        return self.preemptible and self.preemption_mode is not PreemptionMode.NONE

    @property
    def assured_seconds(self) -> int:
        """Seconds from its start for which it is not to be preempted, at most its duration; 0 if none are assured."""
        return 0 if self.min_lifetime is None else min(self.min_lifetime, self.duration)

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(node_set.count for node_set in self.nodes)

    @property
    def charged_nodes(self) -> int:
        """Number of nodes that are paid for; floating IPs are not."""
        return sum(node_set.count for node_set in self.nodes if FLOATING_IP not in node_set.resources)

    @property
    def image_ids(self) -> frozenset[str]:
        """Ids of all images that its nodes boot from."""
        of_nodes = {boot.image.image_id for node_set in self.nodes for boot in node_set.boots if boot.image is not None}
        return frozenset(of_nodes if self.software is None else {*of_nodes, self.software.image_id})

    def images_on(self, hosts: Sequence[Place]) -> dict[DiskImage, frozenset[Place]]:
        """Return the hosts on which each image is needed.

        :param hosts: the host of each node
        """
        found: dict[DiskImage, set[Place]] = {}
        if self.software is not None:
            found[self.software] = set(hosts)
        by_node = chain.from_iterable(node_set.images() for node_set in self.nodes)
        for host, images in zip(hosts, by_node, strict=False):
            for image in images:
                found.setdefault(image, set()).add(host)
        return {image: frozenset(places) for image, places in found.items()}

    @property
    def node_hours(self) -> float:
        """Number of nodes that are paid for, times the duration in hours (haizea F78)."""
        return self.charged_nodes * self.duration / 3_600

    def total(self, resource_class: str) -> int:
        """Return the amount of one class that all nodes need together."""
        return sum(node_set.count * node_set.needs.get(resource_class, 0) for node_set in self.nodes)


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease: its terms, what was granted, and its present state (haizea F14).

    :ivar request: its terms
    :ivar sequence: position in the order of submission; breaks all ties
    :ivar state: state in its life
    :ivar accumulated: seconds that its nodes have run so far, without work that was lost
    :ivar started: instant at which it first became active
    :ivar ended: instant at which it reached a final state
    :ivar active_since: instant at which its present run began; None if it is not running
    :ivar holdings: what it holds now and later, earliest first
    :ivar saved_on: host index of each node's saved memory while the lease is suspended; None if nothing is saved
    :ivar offered_until: instant at which the offer ends, while the lease is held until it is accepted or approved;
        nothing of it starts before it is. None if it is not held
    :ivar reason: why it is in this state, for people
    :ivar negotiation: id of the lease that was requested, if this is one of several offers of which the project may
        accept one; else None
    :ivar missing_since: instant since which some of its nodes are missing; None if none are
    :ivar missing_nodes: number of nodes that are missing
    :ivar penalties: money that the provider owes for breaches of its terms
    :ivar progress: yield and virtual time of a fluid lease; None before it has run, and for other leases
    :ivar approval: state of the approval that it needs; None if it needs none
    :ivar grant: what the service has answered to the request
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
    progress: Progress | None = None
    approval: Approval | None = None
    grant: Grant = UNANSWERED

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
        """Seconds that its nodes have yet to run."""
        return self.request.duration - self.accumulated

    @property
    def assured_until(self) -> int | None:
        """Instant until which it is promised not to be preempted; None without an unbroken promise, or a place."""
        if self.grant.assured is None or self.grant.assured is Assured.BROKEN:
            return None
        begin = self.started
        if begin is None:
            if not self.holdings:
                return None
            begin = self.holdings[0].run_start
        return begin + self.request.assured_seconds

    @property
    def is_final(self) -> bool:
        """Whether it is in a final state."""
        return self.state in FINAL_STATES

    @property
    def is_offered(self) -> bool:
        """Whether it is held until the project accepts it, or until it is approved."""
        return self.offered_until is not None

    @property
    def awaits_approval(self) -> bool:
        """Whether it is held until an approver approves or declines it."""
        return self.approval is Approval.AWAITING and self.is_offered

    @property
    def is_prepared(self) -> bool:
        """Whether it has not started, and its nodes boot ahead of its start or have booted."""
        first = self.holdings[0] if self.holdings else None
        return self.state is LeaseState.READY and first is not None and first.start < first.run_start

    def to(self, *states: LeaseState, reason: str = "", holdings: tuple[Holding, ...] | None = None) -> Lease:
        """Return the lease after transitions to these states, one after the other.

        :param reason: reason of the transitions, for people
        :param holdings: its new holdings; None to keep those that it has
        :raises IllegalTransitionError: the state machine lacks one of the transitions
        """
        current = self.state
        for state in states:
            check_transition(self.request.lease_id, current, state)
            current = state
        held = self.holdings if holdings is None else holdings
        return replace(self, state=current, reason=reason, holdings=held)
