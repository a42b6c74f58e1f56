"""Minimal cases of what random runs have found, so that each is tried on every run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.durations.suspension import SuspensionModel
from lease_scheduler.plan.options import Migration, PlanningOptions, Suspension
from lease_scheduler.plan.plan import Plan
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.simulation.invariants import check_plan, check_result
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease


def _best_effort(lease_id: str, submitted: int, duration: int, *nodes: NodeSet) -> WorkloadLease:
    request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, nodes, submitted, duration, preemptible=True)
    return WorkloadLease(request)


def _node_set(count: int, cores: int, memory: int, *traits: str) -> NodeSet:
    return NodeSet(count, Resources({VCPU: cores * 100, MEMORY_MB: memory}), frozenset(traits))


def _run(site: Site, settings: RunSettings, *leases: WorkloadLease) -> RunResult:
    workload = Workload("found", leases, site)
    result = Run(workload, settings).execute()
    check_result(result, workload, exact=False)
    return result


def test_the_only_host_keeps_its_first_step_after_forgetting() -> None:
    """haizea F28: a site of one host whose past is forgotten right at a change."""
    host, start, end, amounts = np.array([0]), np.array([10]), np.array([20]), np.array([[1], [1]])
    held = Availability(np.array([[2]])).changed(host, start, end, amounts).forgotten(10)

    released = held.changed(host, start, end, -amounts)

    assert released.free(10, 30).tolist() == [[2]]
    assert released.equals(Availability(np.array([[2]])).forgotten(10))


def test_the_resume_estimate_counts_all_node_sets_that_may_share_a_host() -> None:
    """haizea F69: two node sets on one host take their turns one after the other."""
    plan = Plan(Site.homogeneous(1, Resources({VCPU: 400, MEMORY_MB: 4096})))
    options, none = PlanningOptions(resume_rate=32), PolicyOptions()
    model = SuspensionModel(options)
    context = PlanningContext(
        plan,
        options,
        model,
        load_policy("host_selection", "greedy", none),
        load_policy("preemption", "no-preemption", none),
    )
    request = _best_effort("1", 0, 100, _node_set(1, 1, 1024), _node_set(2, 1, 1024)).request

    assert context.resume_estimate(request) >= model.resume_time(request, (0, 0, 0)) == 96


def test_a_lease_that_the_empty_site_can_hold_is_not_stranded_by_the_host_policy() -> None:
    """haizea F31: the policy's order of hosts leaves no room for the second node set; another order does."""
    site = Site.of(
        (
            Host("host-0", Resources({VCPU: 400, MEMORY_MB: 2048}), frozenset({"ssd"})),
            Host("host-1", Resources({VCPU: 400, MEMORY_MB: 2048, DISK_GB: 20})),
            Host("host-2", Resources({VCPU: 400, MEMORY_MB: 2048}), frozenset({"ssd"})),
            Host("host-3", Resources({VCPU: 100, MEMORY_MB: 2048}), frozenset({"ssd"})),
        )
    )
    lease = _best_effort(
        "1", 0, 600, _node_set(4, 1, 1000), NodeSet(4, Resources({VCPU: 50, MEMORY_MB: 256}), frozenset({"ssd"}))
    )

    for policy in ("greedy", "packing", "no-policy"):
        assert _run(site, RunSettings(policies={"host_selection": policy}), lease).leases[0].state is LeaseState.DONE, (
            policy
        )


def test_a_boot_that_outlasts_its_place_takes_no_other_lease_s_hosts() -> None:
    """haizea F95: its place ends at 90, its nodes are ready at 400, and its host is promised to others at 300."""
    follower = LeaseRequest("2", LeaseKind.RESERVATION, (_node_set(1, 1, 1024),), 0, 2400, start=300)
    result = _run(
        Site.homogeneous(1, Resources({VCPU: 100, MEMORY_MB: 1024})),
        RunSettings(cloud=CloudBehaviour(boot_time=400), check_invariants=True),
        _best_effort("1", 0, 90, _node_set(1, 1, 256)),
        WorkloadLease(follower),
    )

    late, kept = result.leases
    assert (kept.state, kept.started, kept.ended) == (LeaseState.DONE, 700, 2700)
    assert (late.state, late.started, late.ended) == (LeaseState.DONE, 3100, 3190)


def test_slow_boots_do_not_end_each_other_for_ever() -> None:
    """haizea F95: two queued leases that start 400 s late, neither of which can be suspended."""
    settings = RunSettings(
        planning=PlanningOptions(backfilling_limit=None, suspension=Suspension.NONE),
        cloud=CloudBehaviour(boot_time=400),
        check_invariants=True,
    )
    leases = [_best_effort(lease_id, 0, 500, _node_set(1, 1, 1024)) for lease_id in ("1", "2")]

    result = _run(Site.homogeneous(1, Resources({VCPU: 100, MEMORY_MB: 1024})), settings, *leases)

    assert [(lease.state, lease.started, lease.ended) for lease in result.leases] == [
        (LeaseState.DONE, 400, 900),
        (LeaseState.DONE, 1300, 1800),
    ]


def test_a_start_that_fails_at_once_is_tried_again_though_nothing_else_is_to_come() -> None:
    """haizea F95: its lease goes back into the queue after the queue was served."""
    settings = RunSettings(cloud=CloudBehaviour(boot_failure_probability=1.0))
    lease = _best_effort("1", 0, 500, _node_set(1, 1, 1024))

    result = _run(Site.homogeneous(2, Resources({VCPU: 100, MEMORY_MB: 1024})), settings, lease)

    assert (result.leases[0].state, result.counters["failed_boots"]) == (LeaseState.FAILED, 3)


def test_a_start_that_fails_for_good_gives_its_hosts_to_the_queue() -> None:
    """haizea F95: without backfilling the second lease waits for the first, which has no work left."""
    settings = RunSettings(
        planning=PlanningOptions(backfilling_limit=0),
        engine=EngineOptions(boot_attempts=1),
        cloud=CloudBehaviour(boot_failure_probability=1.0),
    )
    leases = [_best_effort(lease_id, 0, 500, _node_set(1, 1, 1024)) for lease_id in ("1", "2", "3")]

    result = _run(Site.homogeneous(1, Resources({VCPU: 100, MEMORY_MB: 1024})), settings, *leases)

    assert [lease.state for lease in result.leases] == [LeaseState.FAILED] * 3


def test_a_partial_run_that_is_over_before_its_boot_is_not_repeated_for_ever() -> None:
    """haizea F95: a short run before another queued lease, whose boot takes longer than the run."""
    settings = RunSettings(
        planning=PlanningOptions(suspend_buffer=5), cloud=CloudBehaviour(boot_time=400), check_invariants=True
    )
    shape = Resources({VCPU: 100, MEMORY_MB: 2048})
    promised = LeaseRequest(
        "2", LeaseKind.DEADLINE, (_node_set(2, 1, 256),), 600, 3000, start=805, deadline=4829, preemptible=True
    )
    leases = (
        _best_effort("1", 447, 275, NodeSet(1, Resources({VCPU: 50, MEMORY_MB: 1000}))),
        WorkloadLease(promised),
        _best_effort("3", 600, 811, _node_set(2, 1, 1024)),
        _best_effort("4", 773, 289, NodeSet(1, Resources({VCPU: 25, MEMORY_MB: 1000}))),
    )

    result = _run(Site.homogeneous(2, shape), settings, *leases)

    ends = {lease.lease_id: lease.state for lease in result.leases if lease.kind is LeaseKind.BEST_EFFORT}
    assert ends == dict.fromkeys(("1", "3", "4"), LeaseState.DONE)


_SMALL = Resources({VCPU: 100, MEMORY_MB: 1024})


def _deadline(lease_id: str, start: int, duration: int, deadline: int, *hosts: str) -> WorkloadLease:
    nodes = (NodeSet(1, _SMALL, hosts=frozenset(hosts) or None),)
    return WorkloadLease(
        LeaseRequest(lease_id, LeaseKind.DEADLINE, nodes, 0, duration, start, deadline, preemptible=True)
    )


def _suspended_for_another() -> tuple[WorkloadLease, WorkloadLease]:
    """Return two leases; the first starts 40 s late on host-1, leaves it from 968 to 1000, and resumes on host-2."""
    return _deadline("1", 0, 2000, 9000), _deadline("2", 1000, 3000, 4100, "host-1")


def _suspending(cloud: CloudBehaviour, *others: WorkloadLease, repair: int = 3600) -> RunResult:
    settings = RunSettings(
        planning=PlanningOptions(
            suspend_rate=32, resume_rate=32, shutdown_time=10, migration=Migration.YES_NO_TRANSFER, slack_threshold=2.0
        ),
        engine=EngineOptions(host_repair_time=repair),
        cloud=cloud,
        check_invariants=True,
    )
    return _run(Site.homogeneous(2, _SMALL), settings, *others)


def test_a_late_shutdown_also_delays_the_rest_of_a_lease_that_is_being_suspended_elsewhere() -> None:
    """haizea F95: a shutdown on host-2 that should be over at 995 lasts until 1025; the rest was to resume at 1000."""
    first, second = _suspended_for_another()
    there = NodeSet(1, _SMALL, hosts=frozenset({"host-2"}))
    leaving = WorkloadLease(LeaseRequest("3", LeaseKind.RESERVATION, (there,), 0, 985, start=0))

    result = _suspending(CloudBehaviour(boot_time=40, stop_factor=4), first, leaving, second)

    leases = {lease.lease_id: lease for lease in result.leases}
    assert leases["3"].ended == 985 + 4 * 10
    resumed = next(o for o in result.occupations if o.lease_id == "1" and o.phase.value == "resume")
    assert (resumed.assignment, resumed.start) == ((1,), 985 + 4 * 10)
    assert (leases["1"].state, leases["1"].accumulated) == (LeaseState.DONE, 2000)


def test_a_rest_that_is_planned_again_during_the_suspension_is_as_long_as_before() -> None:
    """haizea F56: host-2, on which a lease is to resume, fails while the memory of the lease is saved on host-1."""
    failure = HostFailure(host=1, instant=980, duration=50)

    result = _suspending(CloudBehaviour(boot_time=40, host_failures=(failure,)), *_suspended_for_another(), repair=100)

    (lease,) = (lease for lease in result.leases if lease.lease_id == "1")
    assert result.counters["host_failures"] == 1
    assert (lease.state, lease.accumulated) == (LeaseState.DONE, 2000)


def test_a_running_lease_that_gets_longer_than_its_hosts_are_free_may_move_in_place_of_being_suspended() -> None:
    """haizea F8: if live migration is allowed, its nodes move at once and are not suspended at all."""
    nodes = (NodeSet(1, _SMALL),)
    stays, moves = (
        LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, 600, preemptible=True, preemption_mode=mode)
        for mode in (PreemptionMode.SHELVE, PreemptionMode.MIGRATE)
    )
    there = NodeSet(1, _SMALL, hosts=frozenset({"host-1"}))
    follower = LeaseRequest("2", LeaseKind.RESERVATION, (there,), 0, 1000, start=700)
    for request, moved, hosts in ((stays, (), (0,)), (moves, (0,), (1,))):
        leases = (WorkloadLease(request), WorkloadLease(follower))
        run = Run(Workload("found", leases, Site.homogeneous(2, _SMALL)), RunSettings(check_invariants=True))
        run.step()
        run.clock.set(100)

        change = run.engine.change("1", replace(request, duration=1500))

        assert (change.moved, change.after.holdings[0].assignment) == (moved, hosts)
        check_plan(run.planner.plan, 100)
        (lease,) = (lease for lease in run.execute().leases if lease.lease_id == "1")
        assert (lease.state, lease.accumulated) == (LeaseState.DONE, 1500)
        assert (lease.ended == 1500) == bool(moved)


def test_a_running_lease_gets_no_hosts_that_a_late_shutdown_still_holds() -> None:
    """haizea F95: its host fails at 995, when the shutdown on the other host should be over; that lasts until 1025."""
    there = NodeSet(1, _SMALL, hosts=frozenset({"host-2"}))
    result = _suspending(
        CloudBehaviour(stop_factor=4, host_failures=(HostFailure(host=0, instant=995, duration=5000),)),
        WorkloadLease(LeaseRequest("1", LeaseKind.RESERVATION, (NodeSet(1, _SMALL),), 0, 2000, start=0)),
        WorkloadLease(LeaseRequest("2", LeaseKind.RESERVATION, (there,), 0, 985, start=0)),
    )

    runs = [o for o in result.occupations if o.lease_id == "1" and o.phase.value == "run"]
    assert [(o.assignment, o.start, o.end) for o in runs] == [((0,), 0, 1025), ((1,), 1025, 2000)]


def test_a_host_that_becomes_smaller_while_it_is_out_of_service_is_not_promised_twice() -> None:
    """haizea F92: both leases are to start when it is back, and only one of them fits there now."""
    leases = [_best_effort(lease_id, 0, 500, _node_set(1, 1, 1024)) for lease_id in ("1", "2")]
    large, small = (Site.homogeneous(1, Resources({VCPU: 100 * size, MEMORY_MB: 1024 * size})) for size in (2, 1))
    settings = RunSettings(planning=PlanningOptions(backfilling_limit=None), check_invariants=True)
    run = Run(Workload("found", tuple(leases), large), settings)
    run.engine.hosts.out(large.hosts[0].name, 300)
    run.step()
    assert [lease.holdings[0].start for lease in run.engine.live_leases()] == [300, 300]

    run.engine.hosts.change_site(small)

    check_plan(run.planner.plan, 0)
    run.engine.hosts.back(small.hosts[0].name)
    result = run.execute()
    assert [(lease.state, lease.ended) for lease in result.leases] == [(LeaseState.DONE, 500), (LeaseState.DONE, 1000)]
