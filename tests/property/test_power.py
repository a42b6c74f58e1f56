"""No reservation starts late or is refused because a host sleeps (contention F60-F64), whatever sleeps and wakes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.fractional.online.names import NAMES
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions, RoomLead
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_VM = Resources({VCPU: 1, MEMORY_MB: 1024})
_HOSTS = 4
_POWER = PowerOptions(wake_time=60, shutdown_time=30, margin=30, sleep_horizon=200, minimum_on_time=50, confirms=False)
#: Notice with which a host that falls asleep can be used.
_NOTICE = _POWER.wake_time + _POWER.shutdown_time + _POWER.margin


@st.composite
def _workloads(draw: st.DrawFn) -> list[WorkloadLease]:
    """Reservations with enough notice, which fit beside each other, and best-effort leases."""
    leases = []
    for number in range(draw(st.integers(1, 8))):
        submitted, nodes = draw(st.integers(0, 3000)), draw(st.integers(1, _HOSTS))
        is_reserved = draw(st.booleans())
        request = LeaseRequest(
            str(number),
            LeaseKind.RESERVATION if is_reserved else LeaseKind.BEST_EFFORT,
            (NodeSet(nodes, _VM),),
            submitted,
            start=submitted + draw(st.integers(_NOTICE, 2000)) if is_reserved else None,
            duration=draw(st.integers(10, 900)),
            preemptible=not is_reserved,
            preemption_mode=PreemptionMode.SHELVE,
        )
        real = draw(st.one_of(st.none(), st.integers(1, request.duration)))
        leases.append(WorkloadLease(request, real))
    return sorted(leases, key=lambda each: each.request.submitted)


def _run(leases: list[WorkloadLease], power: str) -> Run:
    chosen = RunSettings(
        policies={"power": power},
        planning=PlanningOptions(suspend_rate=64, resume_rate=64, room_lead=RoomLead.STRICT),
        engine=EngineOptions(power=_POWER, explain_refusals=False),
        policy_options={"power_epoch": "200", "power_least_epochs": "3"} if power == "predictive" else {},
        check_invariants=True,
    )
    run = Run(Workload("power", tuple(leases), Site.homogeneous(_HOSTS, _VM)), chosen)
    for _ in range(100):
        # Predictive wakes hosts 30 s earlier than the plan says.
        run.policies.power.woke(_POWER.wake_time + 30)
    while (instant := run.next_instant()) is not None and instant < 50_000:
        run.clock.set(max(run.clock.now(), instant))
        run.step()
    return run


@pytest.mark.parametrize("power", ["gesp", "sesp", "pemp", "predictive"])
@given(leases=_workloads())
@settings(max_examples=60, deadline=None)
def test_no_reservation_is_late_or_refused_because_a_host_sleeps(power: str, leases: list[WorkloadLease]) -> None:
    run = _run(leases, power)
    reserved = [each for each in leases if each.request.kind is LeaseKind.RESERVATION]
    ended = {lease.lease_id: lease for lease in run.store.load()}
    for each in reserved:
        lease = ended[each.request.lease_id]
        if lease.state is LeaseState.REJECTED:
            continue
        assert lease.state is LeaseState.DONE, lease
        assert lease.started == each.request.start, lease
    counters = run.recorder.counters
    assert (counters["late_host_wakes"], counters["failed_host_wakes"], counters["asleep_refusals"]) == (0, 0, 0)
    assert counters["preemptions_with_loss"] == 0
    assert counters["missing_vms"] == 0


@pytest.mark.parametrize("power", ["gesp", "sesp", "pemp", "predictive"])
@given(leases=_workloads())
@settings(max_examples=30, deadline=None)
def test_reservations_alone_get_what_they_get_when_no_host_sleeps(power: str, leases: list[WorkloadLease]) -> None:
    alone = [each for each in leases if each.request.kind is LeaseKind.RESERVATION]
    awake, asleep = (_run(alone, policy) for policy in ("none", power))
    expected = {lease.lease_id: (lease.state, lease.started) for lease in awake.store.load()}
    assert {lease.lease_id: (lease.state, lease.started) for lease in asleep.store.load()} == expected


@st.composite
def _fluid_workloads(draw: st.DrawFn) -> list[WorkloadLease]:
    """Fluid leases that may be paused for each other, others that wait in the queue, and reservations."""
    leases = []
    for number in range(draw(st.integers(1, 8))):
        is_reserved = draw(st.integers(0, 3)) == 0
        is_fluid = not is_reserved and draw(st.integers(0, 3)) > 0
        node = Resources({VCPU: draw(st.integers(1, 100)), MEMORY_MB: draw(st.integers(1, 100))})
        node_set, submitted = NodeSet(draw(st.integers(1, _HOSTS)), node), draw(st.integers(0, 3000))
        request = LeaseRequest(
            str(number),
            LeaseKind.RESERVATION if is_reserved else LeaseKind.BEST_EFFORT,
            (node_set.made_fluid(0.1) if is_fluid else node_set,),
            submitted,
            start=submitted + draw(st.integers(_NOTICE, 2000)) if is_reserved else None,
            duration=100_000 if not is_reserved else draw(st.integers(10, 900)),
            preemptible=not is_reserved,
            preemption_mode=draw(st.sampled_from([PreemptionMode.SHELVE, PreemptionMode.MIGRATE])),
            min_yield=0.1 if is_fluid else None,
        )
        leases.append(WorkloadLease(request, draw(st.integers(1, 900))))
    return sorted(leases, key=lambda each: each.request.submitted)


@given(
    leases=_fluid_workloads(),
    algorithm=st.sampled_from([each for each in NAMES if "stretch" not in each and "AVG" not in each]),
    period=st.sampled_from([40, 300, 1000]),
    power=st.sampled_from(["none", "sesp", "predictive"]),
    sizes=st.lists(st.sampled_from([(100, 100), (60, 100), (100, 60)]), min_size=_HOSTS, max_size=_HOSTS),
)
@settings(max_examples=60, deadline=None)
def test_no_best_effort_lease_waits_for_ever(
    leases: list[WorkloadLease], algorithm: str, period: int, power: str, sizes: list[tuple[int, int]]
) -> None:
    """dfrs F39 to F44, contention F60: hosts wake that they fit on, and are awake when the algorithm looks."""
    chosen = RunSettings(
        policies={"power": power, "fractional": "dfrs"},
        planning=PlanningOptions(suspend_rate=64, resume_rate=64),
        engine=EngineOptions(power=replace(_POWER, interval=70), explain_refusals=False),
        policy_options={
            "power_waiting_factor": "0.001",
            "fractional_algorithm": algorithm,
            "fractional_period": str(period),
        },
        check_invariants=True,
    )
    amounts = (Resources({VCPU: cpu, MEMORY_MB: memory}) for cpu, memory in sizes)
    site = Site(tuple(Host(f"host-{number}", each) for number, each in enumerate(amounts)))
    run = Run(Workload("power", tuple(leases), site), chosen)
    if power == "none":
        for host in site.hosts[1:]:
            run.engine.hosts.sleep(host.name)
    while (instant := run.next_instant()) is not None and instant < 100_000:
        run.clock.set(max(run.clock.now(), instant))
        run.step()
    run.end()
    waited = [lease for lease in run.store.load() if lease.kind is LeaseKind.BEST_EFFORT]
    assert {lease.state for lease in waited} <= {LeaseState.DONE, LeaseState.REJECTED}
    assert run.recorder.counters["late_host_wakes"] == 0


@given(
    lease=st.tuples(st.integers(0, 500), st.integers(_NOTICE, 900), st.integers(1, _HOSTS)),
    hosts=st.sets(st.integers(0, _HOSTS - 1)),
)
@settings(max_examples=60, deadline=None)
def test_hosts_that_an_operator_lets_sleep_wake_in_time(lease: tuple[int, int, int], hosts: set[int]) -> None:
    submitted, notice, nodes = lease
    request = LeaseRequest(
        "1", LeaseKind.RESERVATION, (NodeSet(nodes, _VM),), submitted, start=submitted + notice, duration=100
    )
    chosen = RunSettings(engine=replace(EngineOptions(), power=_POWER))
    run = Run(Workload("power", (WorkloadLease(request),), Site.homogeneous(_HOSTS, _VM)), chosen)
    for host in hosts:
        run.engine.hosts.sleep(run.site.hosts[host].name)
    while (instant := run.next_instant()) is not None:
        run.clock.set(max(run.clock.now(), instant))
        run.step()
    (done,) = run.store.load()
    assert (done.state, done.started) == (LeaseState.DONE, request.start)
