"""Random sites, leases, options and clouds for whole runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import strategies as st

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.options import (
    Estimate,
    Exclusion,
    Migration,
    PlanningOptions,
    PreemptAt,
    RoomLead,
    Suspension,
)
from lease_scheduler.policy.policy_set import default_names
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_TRAITS = ("gpu", "ssd")
#: Round instants often coincide, odd ones seldom; both are needed.
_INSTANTS = st.one_of(st.sampled_from(range(0, 3000, 300)), st.integers(0, 2400))
_DURATIONS = st.one_of(st.sampled_from(range(300, 4000, 300)), st.integers(1, 4000))


def _rarely(draw: st.DrawFn, one_in: int) -> bool:
    return draw(st.integers(1, one_in)) == 1


@st.composite
def _hosts(draw: st.DrawFn, number: int) -> Host:
    capacity = {VCPU: draw(st.sampled_from([100, 200, 400])), MEMORY_MB: draw(st.sampled_from([1024, 2048, 4096]))}
    if draw(st.booleans()):
        capacity[DISK_GB] = draw(st.sampled_from([10, 20]))
    traits = draw(st.sets(st.sampled_from(_TRAITS)))
    max_unit = {VCPU: 100} if _rarely(draw, 5) else {}
    return Host(f"host-{number}", Resources(capacity), frozenset(traits), Resources(max_unit))


@st.composite
def _sites(draw: st.DrawFn) -> Site:
    count = draw(st.sampled_from([1, 2, 3, 4, 5]))
    if draw(st.booleans()):
        return Site.homogeneous(count, Resources({VCPU: 100, MEMORY_MB: 1024}))
    return Site.of(draw(_hosts(number)) for number in range(count))


@st.composite
def _node_sets(draw: st.DrawFn) -> NodeSet:
    resources = {VCPU: draw(st.sampled_from([25, 50, 100])), MEMORY_MB: draw(st.sampled_from([256, 1000, 1024]))}
    if _rarely(draw, 8):
        resources[DISK_GB] = draw(st.sampled_from([5, 10]))
    traits = {draw(st.sampled_from(_TRAITS))} if _rarely(draw, 8) else set()
    names = None
    if _rarely(draw, 8):
        names = frozenset(f"host-{number}" for number in draw(st.sets(st.integers(0, 5), min_size=1)))
    per_host = draw(st.sampled_from([1, 2])) if _rarely(draw, 5) else None
    least = Resources({VCPU: 25, MEMORY_MB: 256}) if _rarely(draw, 6) else None
    count = draw(st.sampled_from([1, 1, 2, 2, 3, 4]))
    return NodeSet(count, Resources(resources), frozenset(traits), names, per_host, least_resources=least)


def with_range(draw: st.DrawFn, node_set: NodeSet) -> NodeSet:
    """Return a node set that takes as many nodes as are free, from its own number up."""
    return replace(node_set, count_range=(node_set.count, node_set.count + draw(st.integers(1, 4))))


@st.composite
def _leases(draw: st.DrawFn, number: int) -> WorkloadLease:
    kind = draw(st.sampled_from([*LeaseKind, LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE]))
    submitted = draw(_INSTANTS)
    duration = draw(_DURATIONS)
    start = None
    deadline = None
    if kind in (LeaseKind.RESERVATION, LeaseKind.DEADLINE):
        start = submitted + draw(st.one_of(st.sampled_from([0, 300, 900, 1800]), st.integers(0, 2000)))
    if kind is LeaseKind.DEADLINE:
        assert start is not None
        deadline = start + duration + draw(st.one_of(st.integers(0, 600), st.integers(0, 9000)))
    nodes = [draw(_node_sets())] if draw(st.integers(0, 3)) else [draw(_node_sets()), draw(_node_sets())]
    if kind is LeaseKind.RESERVATION and _rarely(draw, 10):
        nodes = []
    if kind is LeaseKind.BEST_EFFORT and len(nodes) == 1 and _rarely(draw, 4):
        nodes = [with_range(draw, nodes[0])]
    request = LeaseRequest(
        str(number),
        kind,
        tuple(nodes),
        submitted,
        duration,
        start,
        deadline,
        preemptible=not _rarely(draw, 4),
        preemption_mode=draw(st.sampled_from([PreemptionMode.SUSPEND] * 4 + list(PreemptionMode))),
    )
    real = draw(st.integers(1, duration + 10)) if draw(st.booleans()) else None
    return WorkloadLease(request, real)


@st.composite
def _crowding_leases(draw: st.DrawFn, number: int) -> WorkloadLease:
    """Draw a long lease that waits for its turn, or a short one that takes hosts away from such leases."""
    nodes = (NodeSet(draw(st.integers(1, 3)), Resources({VCPU: 100, MEMORY_MB: 256})),)
    if draw(st.integers(0, 2)):
        if _rarely(draw, 4):
            nodes = (with_range(draw, nodes[0]),)
        submitted, duration = draw(st.integers(0, 900)), draw(st.integers(600, 6000))
        request = LeaseRequest(str(number), LeaseKind.BEST_EFFORT, nodes, submitted, duration, preemptible=True)
        return WorkloadLease(request, draw(st.none() | st.integers(1, duration)))
    submitted, duration, notice = draw(st.integers(0, 3000)), draw(st.integers(60, 1500)), draw(st.integers(0, 1500))
    kind = draw(st.sampled_from([LeaseKind.RESERVATION, LeaseKind.RESERVATION, LeaseKind.DEADLINE]))
    start = submitted + notice
    deadline = start + duration + draw(st.integers(0, 3000)) if kind is LeaseKind.DEADLINE else None
    request = LeaseRequest(
        str(number), kind, nodes, submitted, duration, start, deadline, preemptible=kind is LeaseKind.DEADLINE
    )
    return WorkloadLease(request, draw(st.none() | st.integers(1, duration)))


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Draw a workload: half of them mix everything; the others are crowded, so that much is suspended and moved."""
    crowded = draw(st.booleans())
    leases = [
        draw(_crowding_leases(number) if crowded else _leases(number))
        for number in range(1, draw(st.integers(2, 14)) + 1)
    ]
    leases.sort(key=lambda lease: lease.request.submitted)
    if crowded:
        cores = draw(st.lists(st.sampled_from([1, 1, 2]), min_size=3, max_size=5))
        site = Site.of(
            Host(f"host-{number}", Resources({VCPU: count * 100, MEMORY_MB: 1024}))
            for number, count in enumerate(cores)
        )
    else:
        site = draw(_sites())
    return Workload("random", tuple(leases), site)


_PLANNING = st.builds(
    PlanningOptions,
    backfilling_limit=st.sampled_from([0, 1, 2, None]),
    suspension=st.sampled_from([Suspension.ALL, Suspension.ALL, *Suspension]),
    suspend_rate=st.sampled_from([8.0, 32.0, 100.0]),
    resume_rate=st.sampled_from([8.0, 32.0, 100.0]),
    exclusion=st.sampled_from(Exclusion),
    override_suspend_time=st.sampled_from([None, None, 0, 7]),
    override_resume_time=st.sampled_from([None, None, 0, 7]),
    suspend_estimate=st.sampled_from(Estimate),
    suspend_buffer=st.sampled_from([0, 0, 5]),
    enactment_overhead=st.sampled_from([0, 0, 2]),
    shutdown_time=st.sampled_from([0, 0, 10]),
    scheduling_threshold_factor=st.sampled_from([0.0, 1.0, 2.5]),
    force_scheduling_threshold=st.sampled_from([None, None, 0, 1, 100]),
    migration=st.sampled_from(Migration),
    migration_bandwidth=st.sampled_from([100.0, 1000.0]),
    preempt_at=st.sampled_from(PreemptAt),
    room_lead=st.sampled_from([RoomLead.STRICT, RoomLead.STRICT, RoomLead.LOSE]),
    preemption_grace=st.sampled_from([0, 0, 0, 50]),
    slack_threshold=st.sampled_from([0.0, 2.0, 100.0]),
    least_slack_first=st.booleans(),
)

_PREEMPTION = [
    *("by-kind", "by-kind", "by-kind", "ar-preempts-everything", "ar-preempts-be", "deadline", "no-preemption"),
    *("mov", "mlip", "moml", "mov-ordered", "mlip-ordered"),
]

RUN_SETTINGS = st.builds(
    RunSettings,
    planning=_PLANNING,
    engine=st.builds(
        EngineOptions,
        planning_lead=st.sampled_from([0, 0, 10]),
        boot_attempts=st.integers(1, 3),
        preparation_time=st.sampled_from([0, 0, 30, 500]),
        host_repair_time=st.sampled_from([60, 3600]),
        explain_refusals=st.booleans(),
    ),
    policies=st.builds(
        lambda **drawn: default_names() | drawn,
        preemption=st.sampled_from(_PREEMPTION),
        host_selection=st.sampled_from(["greedy", "packing", "no-policy", "worst-fit", "vector-fit"]),
        mapper=st.sampled_from(["greedy", "greedy", "spread"]),
    ),
    policy_options=st.sampled_from([{}, {"preemption_age_basis": "run"}, {"preemption_safe_age": "600"}]),
    deadline_preemption=st.booleans(),
    check_invariants=st.just(True),
)


@st.composite
def clouds(draw: st.DrawFn, hosts: int) -> CloudBehaviour:
    factors = st.sampled_from([1.0, 1.0, 0.5, 1.7, 4.0])
    failures = []
    if draw(st.booleans()):
        for host in draw(st.lists(st.integers(0, hosts - 1), max_size=3, unique=True)):
            failures.append(HostFailure(host, draw(_INSTANTS), draw(st.sampled_from([1, 100, 1000, 10_000]))))
    return CloudBehaviour(
        boot_time=draw(st.sampled_from([0, 0, 20, 400])),
        suspend_factor=draw(factors),
        resume_factor=draw(factors),
        stop_factor=draw(factors),
        transfer_factor=draw(factors),
        spread=draw(st.sampled_from([0.0, 0.0, 0.3])),
        boot_failure_probability=draw(st.sampled_from([0.0, 0.0, 0.3])),
        suspend_failure_probability=draw(st.sampled_from([0.0, 0.0, 0.3])),
        resume_failure_probability=draw(st.sampled_from([0.0, 0.0, 0.3])),
        host_failures=tuple(failures),
        seed=draw(st.integers(0, 99)),
    )


def check_hosts(request: LeaseRequest, site: Site, assignment: tuple[int, ...]) -> None:
    """Check that every node is on a host that it may use, and that no host has too many nodes of a node set."""
    if any(node_set.count_range is not None for node_set in request.nodes):
        fewest, most = (
            sum(bounds) for bounds in zip(*((each.fewest, each.most) for each in request.nodes), strict=True)
        )
        assert fewest <= len(assignment) <= most, request.lease_id
        if len(request.nodes) > 1:
            # Which node is of which node set depends on how many each has got.
            return
        request = replace(request, nodes=(replace(request.nodes[0], count=len(assignment)),))
    first = 0
    for node_set in request.nodes:
        names = [site.hosts[number].name for number in assignment[first : first + node_set.count]]
        assert node_set.hosts is None or set(names) <= node_set.hosts, (request.lease_id, names)
        if node_set.per_host is not None:
            assert max(Counter(names).values()) <= node_set.per_host, (request.lease_id, names)
        first += node_set.count
    assert first == len(assignment)


_IMAGES = [DiskImage("a", 512), DiskImage("b", 1024), DiskImage("c", 3000), None]


@st.composite
def workloads_with_images(draw: st.DrawFn) -> Workload:
    """Draw a workload in which most leases have a disk image."""
    workload = draw(workloads())
    chosen = draw(st.lists(st.sampled_from(_IMAGES), min_size=len(workload.leases), max_size=len(workload.leases)))
    leases = tuple(
        replace(lease, request=replace(lease.request, software=image))
        for lease, image in zip(workload.leases, chosen, strict=True)
    )
    return replace(workload, leases=leases)
