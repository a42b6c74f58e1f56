"""The engine and the simulated cluster of the dissertation decide the same (dfrs F39 to F49, A23; issue 22, point 2).

Suspending, resuming and moving take no time in both. The cluster has a penalty instead: a job that was resumed holds
its memory and its share of the CPU, and makes no progress. In the engine, a lease that is being resumed has no share
yet, and one that moves goes on working, so with such times the two would differ by what they are, not by decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.fractional.online.names import NAMES, parse
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import FULL
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.simulation.fractional.loop import Instant, run_online
from lease_scheduler.simulation.fractional.trace import Trace
from lease_scheduler.simulation.generators.typed_lublin import lublin_trace
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .test_fluid import MOST_STEPS, mixed, run_with_checks
from .test_restore import outcome_of, take_over

_EXAMPLES = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_ALGORITHMS = (
    "Greedy*/OPT=MIN",
    "GreedyP*/OPT=MIN",
    "GreedyPM*/per/OPT=MIN/MVT=600",
    "GreedyP/per/OPT=MIN/MFT=300",
    "/per/OPT=MIN",
    "MCB*/per/OPT=MIN/MVT=600",
)

#: Operations take no time.
_AT_ONCE = PlanningOptions(override_suspend_time=0, override_resume_time=0)

_LONG = 10**8


@dataclass(frozen=True)
class _Decided:
    """What runs from an instant on: the hosts and the yield in thousandths of each job, and which jobs wait."""

    now: int
    running: dict[int, tuple[list[int], int]]
    waiting: list[int]


def small_trace(seed: int) -> Trace:
    """Return jobs as in the dissertation on few nodes, of which some are always waiting."""
    nodes = 8 + seed % 9
    drawn = lublin_trace(seed, 30 + seed * 7 % 31)
    # Jobs of up to 128 nodes, as parts of fewer ones.
    tasks = np.clip(drawn.tasks * nodes // 32, 1, nodes)
    cpu, memory = np.round(drawn.cpu * 100) / 100, np.round(drawn.memory * 100) / 100
    release = drawn.release - drawn.release[0]
    return Trace(nodes, release, tasks, cpu, memory, np.ceil(drawn.processing)).scaled(2.0)


def workload(trace: Trace) -> Workload:
    """Return the jobs as fluid leases that hold no CPU, on hosts of 100 VCPU."""
    percent = np.round(np.stack([trace.cpu, trace.memory]) * 100).astype(int)
    leases = []
    for job in range(len(trace.release)):
        cpu, memory = percent[:, job].tolist()
        node_set = NodeSet(int(trace.tasks[job]), Resources({VCPU: cpu, MEMORY_MB: memory})).made_fluid(0.0)
        request = LeaseRequest(
            f"{job}",
            LeaseKind.BEST_EFFORT,
            (node_set,),
            int(trace.release[job]),
            duration=_LONG,
            preemptible=True,
            preemption_mode=PreemptionMode.MIGRATE,
            min_yield=0.0,
        )
        leases.append(WorkloadLease(request, int(trace.processing[job])))
    host = Resources({VCPU: 100, MEMORY_MB: 100})
    return Workload("trace", tuple(leases), Site(tuple(Host(f"h{number}", host) for number in range(trace.nodes))))


def run_settings(name: str) -> RunSettings:
    """Return settings with which an algorithm decides, and operations take no time."""
    return RunSettings(
        policies={"fractional": "dfrs"}, planning=_AT_ONCE, policy_options={"fractional_algorithm": name}
    )


def in_loop(trace: Trace, name: str) -> tuple[list[_Decided], list[int]]:
    """Return what runs from each instant on, and the end of each job."""
    seen = []

    def watch(instant: Instant) -> None:
        running = {job: (nodes.tolist(), round(instant.yields[job] * FULL)) for job, nodes in instant.nodes.items()}
        seen.append(_Decided(int(instant.now), running, instant.waiting))

    found = run_online(trace, parse(name), penalty=0, whole=True, watch=watch)
    return seen, found.ends.astype(int).tolist()


def decided(run: Run) -> _Decided:
    """Return what runs at present."""
    live = [lease for lease in run.engine.live_leases() if lease.request.min_yield is not None]
    running = {
        int(lease.lease_id): (sorted(lease.holdings[0].assignment), lease.progress.permille)
        for lease in live
        if lease.active_since is not None and lease.progress is not None
    }
    return _Decided(run.clock.now(), running, [int(lease.lease_id) for lease in live if lease.active_since is None])


@pytest.mark.parametrize("name", _ALGORITHMS)
@pytest.mark.parametrize("seed", range(20))
def test_the_engine_decides_as_the_online_loop(seed: int, name: str) -> None:
    """At each instant the same jobs run on the same nodes with the same yields, and the same jobs wait.

    Every third engine is killed again and again, and others go on.
    """
    trace = small_trace(seed)
    expected, ends = in_loop(trace, name)
    run, upcoming = Run(workload(trace), run_settings(name)), iter(expected)
    while (instant := run.next_instant()) is not None:
        run.clock.set(instant)
        run.step()
        check_plan(run.planner.plan, instant)
        found = decided(run)
        assert found == next(upcoming)
        if seed % 3 == 0 and instant % 7 == 0:
            take_over(run)
    assert next(upcoming, None) is None
    assert [lease.ended for lease in run.store.load()] == ends


@pytest.mark.parametrize("queueing", ["fifo", "priority", "edf", "winks"])
@pytest.mark.parametrize("seed", range(3))
def test_the_queueing_policy_does_not_place_fluid_leases(seed: int, queueing: str) -> None:
    """A lease that the algorithm lets wait, or has paused, stays so when others are served that wait in the queue."""
    name, trace = "GreedyPM*/per/OPT=MIN/MVT=600", small_trace(seed)
    expected, _ = in_loop(trace, name)
    jobs, middle = workload(trace), len(trace.release) // 2
    whole = NodeSet(trace.nodes, Resources({VCPU: 100, MEMORY_MB: 100}))
    waiting = LeaseRequest("waiting", LeaseKind.BEST_EFFORT, (whole,), int(trace.release[middle]), duration=600)
    leases = (*jobs.leases[: middle + 1], WorkloadLease(waiting, 600), *jobs.leases[middle + 1 :])
    run = Run(replace(jobs, leases=leases), run_settings(name).with_policies(queueing=queueing))
    compared = 0
    for each in expected:
        instant = run.next_instant()
        assert instant is not None
        run.clock.set(instant)
        run.step()
        other = run.engine.lease("waiting")
        if instant >= waiting.submitted and (other is None or (other.holdings and other.holdings[0].start <= instant)):
            # Every host has been free for an instant.
            break
        assert decided(run) == each
        compared += instant >= waiting.submitted
    assert compared > 20


def test_the_traces_are_crowded() -> None:
    """Jobs are paused, moved and resumed, and wait, or the comparison would show nothing."""
    found = [
        run_online(small_trace(seed), parse("GreedyPM*/per/OPT=MIN/MVT=600"), penalty=0, whole=True)
        for seed in range(20)
    ]
    assert sum(each.moved for each in found) > 300
    assert sum(each.resumed for each in found) > 200


@st.composite
def _mixed(draw: st.DrawFn, *, exact: bool) -> tuple[Workload, RunSettings]:
    """Draw a workload in which an algorithm places fluid leases beside leases of all kinds.

    :param exact: whether everything takes as long as planned
    """
    drawn, chosen = draw(mixed(works=True))
    name = draw(st.sampled_from([each for each in NAMES if "stretch" not in each and "AVG" not in each]))
    options = {**chosen.policy_options, "fractional_algorithm": name, "fractional_period": "300"}
    cloud = CloudBehaviour() if exact else chosen.cloud
    return drawn, replace(chosen.with_policies(fractional="dfrs"), policy_options=options, cloud=cloud)


@_EXAMPLES
@given(_mixed(exact=False), st.frozensets(st.integers(1, 40), max_size=2))
def test_no_host_gives_more_than_it_has(drawn: tuple[Workload, RunSettings], restarts: frozenset[int]) -> None:
    """At every instant, also after restarts. ``check_plan`` adds that memory is never shared."""
    run_with_checks(drawn, restarts)


@_EXAMPLES
@given(_mixed(exact=True))
def test_no_reservation_is_late_and_no_lease_is_lost(drawn: tuple[Workload, RunSettings]) -> None:
    run, steps = Run(*drawn), 0
    while (instant := run.next_instant()) is not None:
        run.clock.set(max(run.clock.now(), instant))
        run.step()
        steps += 1
        assert steps < MOST_STEPS, "it does not come to an end"
    run.end()
    real = {each.request.lease_id: each.real_duration for each in drawn[0].leases}
    for lease in run.store.load():
        assert lease.is_final
        if lease.request.min_yield is not None:
            assert lease.state in (LeaseState.DONE, LeaseState.REJECTED, LeaseState.CANCELLED)
        if lease.kind is LeaseKind.RESERVATION and lease.started is not None and not lease.request.preemptible:
            assert lease.state is LeaseState.DONE
            assert lease.started == lease.request.start
            assert lease.accumulated == min(real.get(lease.lease_id) or _LONG, lease.request.duration)


@_EXAMPLES
@given(_mixed(exact=False), st.frozensets(st.integers(1, 40), min_size=1, max_size=3))
def test_the_outcome_is_that_of_an_engine_that_never_died(
    drawn: tuple[Workload, RunSettings], restarts: frozenset[int]
) -> None:
    assert outcome_of(*drawn, restarts) == outcome_of(*drawn, frozenset())
