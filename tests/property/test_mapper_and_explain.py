"""The mapper respects every limit, and a refusal offers only what would be granted (haizea F31, F33, F3)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.advice import Alternative
from lease_scheduler.plan.explaining.explain import explain, too_large
from lease_scheduler.plan.explaining.quote import Quote, quote
from lease_scheduler.plan.explaining.reservable import room
from lease_scheduler.plan.fitting.mapper import map_vms
from lease_scheduler.plan.options import PlanningOptions, RoomLead
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet

_VM = Resources({VCPU: 1, MEMORY_MB: 2})
_PLANNED = [LeaseKind.RESERVATION, LeaseKind.DEADLINE]
_TRAITS = ("gpu", "ssd")
_SELECTIONS = {
    name: load_policy("host_selection", name, PolicyOptions())
    for name in ("greedy", "packing", "no-policy", "vector-fit", "worst-fit")
}
_MAPPERS = {name: load_policy("mapper", name, PolicyOptions()) for name in ("greedy", "spread")}
_PREEMPTION = load_policy("preemption", "no-preemption", PolicyOptions())


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
    """Draw a planner of a heterogeneous site on which some leases have places already."""
    site = Site.of(draw(_hosts(number)) for number in range(draw(st.integers(1, 4))))
    options = PlanningOptions(
        shutdown_time=draw(st.sampled_from([0, 3])), slack_threshold=draw(st.sampled_from([0, 2]))
    )
    selection = _SELECTIONS[draw(st.sampled_from(sorted(_SELECTIONS)))]
    planner = Planner(
        site,
        options,
        PolicySet(
            host_selection=selection, preemption=_PREEMPTION, mapper=_MAPPERS[draw(st.sampled_from(sorted(_MAPPERS)))]
        ),
    )
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
    """haizea F3, F5, F30, F31, F33: every node of the lease, even if several of them are on one host."""
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
            # If all nodes are equal, every mapper finds a place whenever there is one.
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
    """A refusal gives the reason, changes nothing, and offers only what would be granted."""
    before = planner.plan.availability, dict(planner.plan.leases)
    if too_large(planner.context, request) is None and _granted(planner, request, 100, now) is not None:
        return

    refusal = explain(planner, request, now)

    assert (planner.plan.availability, planner.plan.leases) == before
    assert refusal.message
    if refusal.reason in ("traits", "size"):
        assert too_large(planner.context, request) is not None
        return
    for alternative in refusal.alternatives:
        assert alternative.start >= now
        assert (alternative.nodes, alternative.duration) <= (request.node_count, request.duration)
        granted = _granted(planner, _changed(request, alternative, now), 100, now)
        assert granted is not None, alternative
        planner.plan.remove(planner.release(granted).lease_id)


def _changed(request: LeaseRequest, alternative: Alternative, now: int) -> LeaseRequest:
    """Return the request for an alternative; if it cannot start at once, an immediate lease becomes a reservation."""
    nodes = request.nodes
    if alternative.nodes != request.node_count:
        nodes = (replace(request.nodes[0], count=alternative.nodes),)
    if request.kind is LeaseKind.DEADLINE and alternative.change == "nodes":
        return replace(request, nodes=nodes)
    start = max(now, alternative.start)
    return LeaseRequest("new", LeaseKind.RESERVATION, nodes, 0, alternative.duration, start)


@st.composite
def _full_planners(draw: st.DrawFn) -> tuple[Planner, int]:
    """Draw a planner of a site filled by leases of all kinds, some of them running, so that new leases need victims.

    :return: the planner, and the present instant
    """
    options = PlanningOptions(
        room_lead=draw(st.sampled_from(RoomLead)),
        shutdown_time=draw(st.sampled_from([0, 3])),
        preemption_grace=draw(st.sampled_from([0, 4])),
        suspend_rate=1,
        resume_rate=1,
    )
    planner = Planner(
        Site.homogeneous(draw(st.integers(1, 5)), _VM),
        options,
        PolicySet(
            host_selection=_SELECTIONS["greedy"], preemption=load_policy("preemption", "by-kind", PolicyOptions())
        ),
        deadline_preemption=True,
    )
    for number in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from([LeaseKind.BEST_EFFORT, LeaseKind.BEST_EFFORT, *_PLANNED]))
        duration, nodes = draw(st.integers(5, 60)), (NodeSet(draw(st.integers(1, 3)), _VM),)
        if kind is LeaseKind.BEST_EFFORT:
            request = LeaseRequest(str(number), kind, nodes, 0, duration, preemptible=True)
            if too_large(planner.context, request) is None:
                planner.enqueue(planner.plan.put(Lease(request, number).to(LeaseState.PENDING)))
                planner.process_queue(0)
            continue
        start = draw(st.integers(0, 40))
        deadline = start + duration + draw(st.integers(0, 40)) if kind is LeaseKind.DEADLINE else None
        preemptible = kind is LeaseKind.DEADLINE
        request = LeaseRequest(str(number), kind, nodes, 0, duration, start, deadline, preemptible=preemptible)
        if too_large(planner.context, request) is None:
            _granted(planner, request, number, 0)
    now = draw(st.sampled_from([0, 3]))
    for lease in list(planner.plan.leases.values()):
        if not lease.holdings:
            continue
        first = lease.holdings[0]
        if first.run_end <= now:
            planner.plan.remove(planner.release(lease).lease_id)
        elif first.run_start <= now:
            running = lease.to(LeaseState.ACTIVE)
            planner.plan.put(replace(running, active_since=first.run_start, started=first.run_start))
    return planner, now


def _is_granted_as_asked(found: Quote, request: LeaseRequest) -> bool:
    """Return whether a request is granted, and starts no later than it says."""
    if found.lease is None or not found.granted:
        return False
    return request.kind is not LeaseKind.RESERVATION or found.lease.holdings[0].run_start == request.start


@settings(max_examples=400, deadline=None)
@given(_full_planners(), st.data())
def test_advice_with_preemption_is_granted_and_one_more_is_refused(
    full: tuple[Planner, int], data: st.DataObject
) -> None:
    """Also above the size of the site, and with any room lead; the predicted victims are the actual ones."""
    planner, now = full
    kind = data.draw(st.sampled_from(_PLANNED))
    start, duration = now + data.draw(st.integers(0, 40)), data.draw(st.integers(1, 40))
    deadline = start + duration + data.draw(st.integers(0, 40)) if kind is LeaseKind.DEADLINE else None
    nodes = (NodeSet(data.draw(st.integers(1, 7)), _VM),)
    request = LeaseRequest("new", kind, nodes, 0, duration, start, deadline)
    found = quote(planner, request, 100, now)
    if found.refusal is None:
        return
    before = planner.plan.availability, dict(planner.plan.leases)

    def granted(**terms: Any) -> bool:
        asked = replace(request, **terms)
        return _is_granted_as_asked(quote(planner, asked, 100, now), asked)

    most: dict[str, Alternative] = {}
    lead = planner.options.room_lead.value
    for alternative in found.refusal.alternatives:
        asked = _changed(request, alternative, now)
        again = quote(planner, asked, 100, now)
        assert _is_granted_as_asked(again, asked), alternative
        if asked.kind is kind and alternative.preempted:
            assert again.preempted_kinds == alternative.preempted
        most.setdefault(alternative.change, alternative)
        event(f"{lead}: {kind.value}: {alternative.change}{' preempting' if alternative.preempted else ''}")
        if kind is LeaseKind.DEADLINE:
            # A deadline moves with the start, so the same request for a deadline lease is granted again.
            assert deadline is not None
            moved = replace(asked, kind=kind, deadline=deadline + alternative.start - start, nodes=asked.nodes)
            if alternative.change != "nodes":
                assert quote(planner, moved, 100, now).granted, alternative
    assert (planner.plan.availability, planner.plan.leases) == before
    if "nodes" in most:
        assert not granted(nodes=(replace(nodes[0], count=most["nodes"].nodes + 1),))
    else:
        assert not granted(nodes=(replace(nodes[0], count=1),))
    if kind is LeaseKind.RESERVATION:
        if "duration" in most:
            assert not granted(duration=most["duration"].duration + 1)
        if "start" in most and most["start"].preempted and most["start"].start > start:
            assert not granted(start=most["start"].start - 1)


@settings(max_examples=300, deadline=None)
@given(_full_planners(), st.integers(0, 20), st.integers(1, 60), st.integers(1, 30), st.integers(1, 6))
def test_availability_agrees_with_quotes(
    full: tuple[Planner, int], wait: int, length: int, duration: int, count: int
) -> None:
    """Every window is granted as shown, with the victims that it names; nothing starts before the earliest one."""
    planner, now = full
    node_set = NodeSet(count, _VM)
    start = now + wait
    end = start + length

    def asked(nodes: int, begin: int, seconds: int) -> tuple[bool, Quote]:
        request = LeaseRequest("new", LeaseKind.RESERVATION, (NodeSet(nodes, _VM),), 0, seconds, begin)
        found = quote(planner, request, 100, now)
        return _is_granted_as_asked(found, request), found

    before = planner.plan.availability, dict(planner.plan.leases)
    found = room(planner, node_set, start, end, duration, now)
    assert (planner.plan.availability, planner.plan.leases) == before

    for window in found.reservable.windows:
        assert start <= window.start and window.end <= end and window.end - window.start >= duration
        assert window.count >= count
        granted, told = asked(window.count, window.start, window.end - window.start)
        assert granted, window
        assert told.preempted_kinds == window.preempted
    for window in found.free.windows:
        granted, told = asked(window.count, window.start, window.end - window.start)
        assert granted and not told.preempted
        assert found.reservable.earliest is not None and found.reservable.earliest <= window.start
    if end - start >= duration:
        assert asked(count, start, duration)[0] is (found.reservable.earliest == start)
    if found.reservable.earliest is not None and found.reservable.earliest > start:
        assert not asked(count, found.reservable.earliest - 1, duration)[0]
        event(f"{planner.options.room_lead.value}: later")
    if any(window.preempted for window in found.reservable.windows):
        event(f"{planner.options.room_lead.value}: preempting")
