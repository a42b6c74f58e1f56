"""The mapper respects every limit, and what a refusal offers can be had (haizea F31, F33, F3)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest, NodeSet
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explain import explain, too_large
from lease_scheduler.plan.mapper import map_vms
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_host_selection, load_mapper, load_preemption

_TRAITS = ("gpu", "ssd")
_SELECTIONS = {name: load_host_selection(name, PolicyOptions()) for name in ("greedy", "packing", "no-policy")}
_MAPPERS = {name: load_mapper(name, PolicyOptions()) for name in ("greedy", "spread")}
_PREEMPTION = load_preemption("no-preemption", PolicyOptions())


@st.composite
def _hosts(draw: st.DrawFn, number: int) -> Host:
    capacity = {VCPU: draw(st.integers(1, 4)), MEMORY_MB: draw(st.integers(1, 8)), DISK_GB: draw(st.integers(0, 4))}
    max_unit = {name: draw(st.integers(1, 3)) for name in draw(st.sets(st.sampled_from([VCPU, MEMORY_MB])))}
    traits = draw(st.sets(st.sampled_from(_TRAITS)))
    return Host(f"host-{number}", Resources(capacity), frozenset(traits), Resources(max_unit))


@st.composite
def _node_sets(draw: st.DrawFn) -> NodeSet:
    needs = {VCPU: draw(st.integers(1, 2)), MEMORY_MB: draw(st.integers(0, 3)), DISK_GB: draw(st.integers(0, 1))}
    traits = draw(st.sampled_from([set(), set(), {"gpu"}, {"ssd"}, {"gpu", "ssd"}]))
    return NodeSet(draw(st.integers(1, 3)), Resources(needs), frozenset(traits))


@st.composite
def _requests(draw: st.DrawFn, lease_id: str, kinds: st.SearchStrategy[LeaseKind]) -> LeaseRequest:
    kind = draw(kinds)
    duration = draw(st.integers(1, 20))
    start = None if kind is LeaseKind.IMMEDIATE else draw(st.integers(0, 40))
    deadline = None
    if kind is LeaseKind.DEADLINE:
        assert start is not None
        deadline = start + duration + draw(st.integers(0, 30))
    nodes = tuple(draw(st.lists(_node_sets(), min_size=1, max_size=2)))
    return LeaseRequest(lease_id, kind, nodes, 0, duration, start, deadline)


@st.composite
def _planners(draw: st.DrawFn) -> Planner:
    """A planner of a heterogeneous site on which some leases have places already."""
    site = Site.of(draw(_hosts(number)) for number in range(draw(st.integers(1, 4))))
    options = PlanningOptions(
        shutdown_time=draw(st.sampled_from([0, 3])), slack_threshold=draw(st.sampled_from([0, 2]))
    )
    selection = _SELECTIONS[draw(st.sampled_from(sorted(_SELECTIONS)))]
    planner = Planner(site, options, selection, _PREEMPTION, mapper=_MAPPERS[draw(st.sampled_from(sorted(_MAPPERS)))])
    for number in range(draw(st.integers(0, 8))):
        request = draw(_requests(str(number), st.just(LeaseKind.RESERVATION)))
        _granted(planner, request, number, 0)
    return planner


def _granted(planner: Planner, request: LeaseRequest, sequence: int, now: int) -> Lease | None:
    lease = Lease(request, sequence).to(LeaseState.PENDING)
    try:
        return planner.place(lease, now)
    except NotPlannableError:
        return None


@settings(max_examples=250, deadline=None)
@given(
    _planners(),
    _requests("new", st.just(LeaseKind.RESERVATION)),
    st.sampled_from(sorted(_SELECTIONS)),
    st.sampled_from(sorted(_MAPPERS)),
)
def test_an_assignment_respects_traits_largest_units_and_what_is_free(
    planner: Planner, request: LeaseRequest, selection: str, mapper: str
) -> None:
    """haizea F3, F5, F30, F31, F33: every VM of the lease, several of them on one host included."""
    plan = planner.plan
    assert request.start is not None
    end = request.start + request.duration
    free = plan.availability.free(request.start, end)

    demands = plan.demands(request)
    assignment = map_vms(
        plan.availability, request, demands, request.start, end, _SELECTIONS[selection], _MAPPERS[mapper]
    )

    if assignment is None:
        if len(request.nodes) == 1:
            # With equal VMs every mapper finds a place whenever there is one.
            assert _room_for_equal_vms(plan.site, free, plan.classes, request.nodes[0]) < request.node_count
        return
    vms = [node_set for node_set in request.nodes for _ in range(node_set.count)]
    used: defaultdict[tuple[int, str], int] = defaultdict(int)
    for number, node_set in zip(assignment, vms, strict=True):
        host = plan.site.hosts[number]
        assert node_set.required_traits <= host.traits
        for name, amount in node_set.resources.items():
            assert amount <= host.max_unit.get(name, amount)
            used[number, name] += amount
    for (number, name), amount in used.items():
        assert amount <= free[plan.classes.index(name), number]


def _room_for_equal_vms(site: Site, free: np.ndarray, classes: tuple[str, ...], node_set: NodeSet) -> int:
    room = 0
    for number, host in enumerate(site.hosts):
        if host.can_ever_hold(node_set.resources, node_set.required_traits):
            room += min(
                max(0, int(free[classes.index(name), number])) // amount for name, amount in node_set.resources.items()
            )
    return room


@settings(max_examples=250, deadline=None)
@given(
    _planners(),
    _requests("new", st.sampled_from([LeaseKind.RESERVATION, LeaseKind.IMMEDIATE, LeaseKind.DEADLINE])),
    st.integers(0, 20),
)
def test_every_alternative_of_a_refusal_is_granted(planner: Planner, request: LeaseRequest, now: int) -> None:
    """A refusal says why, changes nothing, and offers only what can be had."""
    before = planner.plan.availability, dict(planner.plan.leases)
    if too_large(planner.context, request) is None and _granted(planner, request, 100, now) is not None:
        return

    refusal = explain(planner.context, request, now)

    assert (planner.plan.availability, planner.plan.leases) == before
    assert refusal.message
    if refusal.constraint in ("traits", "size"):
        assert too_large(planner.context, request) is not None
        return
    for alternative in refusal.alternatives:
        nodes = request.nodes
        if alternative.nodes != request.node_count:
            nodes = (replace(request.nodes[0], count=alternative.nodes),)
        asked = LeaseRequest("new", LeaseKind.RESERVATION, nodes, 0, alternative.duration, max(now, alternative.start))
        assert alternative.start >= now
        assert (alternative.nodes, alternative.duration) <= (request.node_count, request.duration)
        granted = _granted(planner, asked, 100, now)
        assert granted is not None, alternative
        planner.plan.remove(planner.release(granted).lease_id)
