"""What invariants look at: the database, the cloud, what was sent, and what clients were told, at one instant.

All instants are seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lease_scheduler.rehearsal.disturbances import Disturbance
from lease_scheduler.rehearsal.story import BadAnswer, BootedServer, ToldLease


@dataclass(frozen=True)
class HoldingFact:
    """Hosts that a lease holds for some time.

    :ivar hosts: id of the host of each node
    """

    start: int
    run_start: int
    run_end: int
    end: int
    hosts: Sequence[str]


@dataclass(frozen=True)
class LeaseFact:
    """A lease in the database.

    :ivar nodes: what each node takes: class -> amount
    :ivar is_exclusive: whether it has whole hosts
    :ivar offered_until: end of an offer that nobody has accepted
    :ivar started: when it has run first
    :ivar trust_id: Keystone's trust of its project in the service; None if it needs none
    """

    lease_id: str
    project: str
    name: str
    kind: str
    state: str
    ended: int | None
    is_maintenance: bool = False
    is_exclusive: bool = False
    nodes: Sequence[Mapping[str, int]] = ()
    holdings: Sequence[HoldingFact] = ()
    offered_until: int | None = None
    requested_start: int | None = None
    submitted: int = 0
    started: int | None = None
    duration: int = 0
    trust_id: str | None = None


@dataclass(frozen=True)
class TransitionFact:
    """A transition in the history of a lease, or a remark, which does not change its state."""

    lease_id: str
    instant: int
    before: str
    after: str
    reason: str = ""


@dataclass(frozen=True)
class StayFact:
    """A phase of a lease on its hosts that is over.

    :ivar hosts: their ids
    """

    lease_id: str
    start: int
    end: int
    hosts: Sequence[str]


@dataclass(frozen=True)
class BreachFact:
    """A breach of the terms of a lease."""

    lease_id: str
    kind: str
    instant: int


@dataclass(frozen=True)
class HostFact:
    """A host in the database."""

    host_id: str
    name: str
    capacity: Mapping[str, int]


@dataclass(frozen=True)
class OperationFact:
    """An operation that is not completed.

    :ivar due: when it should be over by the plan; 0 if it is due at once
    """

    lease_id: str
    kind: str
    due: int


@dataclass(frozen=True)
class SentFact:
    """A notification that an engine has sent about a transition."""

    lease_id: str
    instant: int
    before: str
    after: str


@dataclass(frozen=True)
class ServerFact:
    """A server in Nova.

    :ivar host: name of the compute service; None if it is on none
    :ivar lease_id: lease that it was booted for; None if for none
    :ivar runs: whether it uses its host, and is not switched off there
    :ivar is_preemptible: whether its flavor says that it gives way to leases
    :ivar since: when it was first seen on its host
    :ivar is_resized: whether it is being resized; Nova gives it the new flavor only when it is on its new host
    """

    server_id: str
    project: str
    host: str | None
    state: str
    lease_id: str | None = None
    runs: bool = True
    is_preemptible: bool = False
    since: float = 0.0
    is_resized: bool = False


@dataclass(frozen=True)
class ProviderFact:
    """A resource provider in Placement: class -> amount."""

    name: str
    capacity: Mapping[str, int]
    used: Mapping[str, int]


@dataclass(frozen=True)
class CloudFacts:
    """What is in the cloud.

    :ivar aggregates: lease -> hosts that it has for itself
    :ivar traces: what belongs to leases, in words -> lease
    :ivar working: names of the compute services that run
    :ivar pool: hosts that only leases and preemptible servers may use -> instant since when
    :ivar holders: lease -> number of its nodes for which capacity is held in Placement
    :ivar seen: host, and lease of a server that was seen there (empty if it has none) -> instant at which that was last
    :ivar owned: lease that runs, and host that it has for itself -> instant since when
    """

    servers: Sequence[ServerFact] = ()
    providers: Sequence[ProviderFact] = ()
    aggregates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    traces: Mapping[str, str] = field(default_factory=dict)
    working: frozenset[str] = frozenset()
    pool: Mapping[str, float] = field(default_factory=dict)
    holders: Mapping[str, int] = field(default_factory=dict)
    owned: Mapping[tuple[str, str], float] = field(default_factory=dict)
    seen: Mapping[tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """Everything at one instant.

    :ivar now: true time
    :ivar calm_since: seconds since the last fault; None as long as there are any
    :ivar waiting: instants at which the notifications were written that wait to be sent
    :ivar told: leases that clients were told to have
    :ivar told_ends: lease -> instant at which a client was told that it is over
    :ivar cloud: None if the engine simulates its cloud itself
    :ivar disturbances: in the order of their beginnings
    :ivar answers: answers of the service that nobody should get
    :ivar booted: servers that projects have booted into active leases of theirs
    """

    now: float
    calm_since: float | None
    leases: Mapping[str, LeaseFact] = field(default_factory=dict)
    history: Sequence[TransitionFact] = ()
    hosts: Mapping[str, HostFact] = field(default_factory=dict)
    operations: Sequence[OperationFact] = ()
    waiting: Sequence[int] = ()
    sent: Sequence[SentFact] = ()
    told: Mapping[str, ToldLease] = field(default_factory=dict)
    told_ends: Mapping[str, float] = field(default_factory=dict)
    cloud: CloudFacts | None = None
    disturbances: Sequence[Disturbance] = ()
    breaches: Sequence[BreachFact] = ()
    answers: Sequence[BadAnswer] = ()
    booted: Mapping[str, BootedServer] = field(default_factory=dict)
    stays: Sequence[StayFact] = ()


@dataclass(frozen=True)
class Violation:
    """An invariant that is broken.

    :ivar subject: lease that it is about; empty if it is about none
    """

    invariant: str
    what: str
    subject: str = ""
