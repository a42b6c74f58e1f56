"""A quote is what a booking at that instant gets, and asking for one changes nothing."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import FINAL_STATES, QUEUED_STATES, LeaseState
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, workloads

_POLICIES = st.sampled_from(
    [
        ("fifo", {}),
        ("edf", {}),
        ("priority", {}),
        ("budget", {}),
        ("winks", {}),
        ("winks", {"winks_window": "1000"}),
        ("winks", {"winks_window": "1000", "winks_debt": "no", "winks_limit_when_idle": "strict"}),
        ("winks", {"winks_window": "3000", "winks_accounting": "dispatch", "winks_preempt_after": "300"}),
    ]
)


@st.composite
def _full(draw: st.DrawFn) -> Workload:
    """Draw a workload whose leases are of three projects, with more best-effort leases than fit."""
    workload = draw(workloads())
    more = [
        replace(
            draw(st.sampled_from(workload.leases)),
            request=LeaseRequest(f"wait-{number}", LeaseKind.BEST_EFFORT, (_nodes(draw),), 300, 2_000),
        )
        for number in range(draw(st.integers(0, 6)))
    ]
    every = [
        replace(each, request=replace(each.request, user=draw(st.sampled_from("abc"))))
        for each in (*workload.leases, *more)
    ]
    return replace(workload, leases=tuple(sorted(every, key=lambda each: each.request.submitted)))


def _nodes(draw: st.DrawFn) -> NodeSet:
    count = draw(st.integers(1, 4))
    return NodeSet(count, Resources({VCPU: draw(st.sampled_from([25, 100])), MEMORY_MB: 256}))


@st.composite
def _asked(draw: st.DrawFn, now: int) -> tuple[LeaseRequest, tuple[int, ...] | None]:
    """Draw a request of any kind, and the fewest nodes that suffice."""
    kind = draw(st.sampled_from([*LeaseKind, LeaseKind.BEST_EFFORT, LeaseKind.BEST_EFFORT]))
    nodes, duration = _nodes(draw), draw(st.sampled_from([1, 60, 300, 2_000]))
    start = now + draw(st.sampled_from([0, 300, 1_500])) if kind.has_start else None
    deadline = start + duration + draw(st.integers(0, 3_000)) if start is not None else None
    request = LeaseRequest(
        "asked",
        kind,
        (nodes,),
        now,
        duration,
        start,
        deadline if kind is LeaseKind.DEADLINE else None,
        preemptible=draw(st.booleans()),
        preemption_mode=draw(st.sampled_from(list(PreemptionMode))),
        user=draw(st.sampled_from("abcd")),
    )
    return request, (draw(st.integers(1, nodes.count)),) if draw(st.booleans()) else None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_full(), RUN_SETTINGS, _POLICIES, st.data())
def test_a_quote_is_what_a_booking_gets(
    workload: Workload,
    chosen: RunSettings,
    policy: tuple[str, dict[str, str]],
    data: st.DataObject,
) -> None:
    queueing, options = policy
    run_settings = replace(
        chosen.with_policies(queueing=queueing),
        policy_options={**chosen.policy_options, **options},
        flow_weights={"a": 3.0, "b": 1.0},
        engine=replace(chosen.engine, preparation_time=0),
    )
    run, other = Run(workload, run_settings), Run(workload, run_settings)
    instants = sorted({lease.request.submitted for lease in workload.leases})
    until = data.draw(st.sampled_from(instants)) + data.draw(st.sampled_from([0, 1, 100]))
    for each in (run, other):
        _until(each, until)
    request, least = data.draw(_asked(until))
    quoted = run.engine.quote(request, least)
    assert run.engine.quote(request, least) == quoted
    for each in (run, other):
        each.engine.submit(request, least)
        each.step()
    booked = {lease.lease_id: lease for lease in run.store.load()}["asked"]
    assert booked == {lease.lease_id: lease for lease in other.store.load()}["asked"], "a quote has changed something"
    if quoted.lease is None:
        assert booked.state in (LeaseState.REJECTED, LeaseState.REJECTED_BY_USER)
        return
    assert booked.state not in (LeaseState.REJECTED, LeaseState.REJECTED_BY_USER)
    if booked.state in FINAL_STATES:
        # Its start has failed, which a quote cannot know.
        return
    assert _place(quoted.lease) == _place(booked)
    live = run.engine.live_leases()
    waits = booked.state in QUEUED_STATES
    assert quoted.queue_position == (sum(each.state in QUEUED_STATES for each in live) if waits else None)


def _place(lease: Lease) -> tuple[object, ...]:
    return lease.request.nodes, lease.holdings


def _until(run: Run, instant: int) -> None:
    while (event := run.next_instant()) is not None and event <= instant:
        run.clock.set(max(run.clock.now(), event))
        run.step()
    run.clock.set(instant)
    run.step()
