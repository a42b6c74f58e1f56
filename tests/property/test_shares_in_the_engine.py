"""Projects share a site: every promise is kept, and whatever the cloud does, the clocks survive a restart."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.queueing.winks.policy import Winks
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.shares.fairness import Backlog, lag_bound, largest_lag
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .random_runs import RUN_SETTINGS, clouds, workloads
from .test_restore import outcome_of

_EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def _shared(draw: st.DrawFn) -> tuple[Workload, RunSettings]:
    """Draw a workload of several projects, and settings with a policy that shares the site among them."""
    workload, run_settings = draw(workloads()), draw(RUN_SETTINGS)
    leases = tuple(
        replace(lease, request=replace(lease.request, user=draw(st.sampled_from(["a", "b", "c"]))))
        for lease in workload.leases
    )
    options = {
        "winks_window": draw(st.sampled_from(["0", "600", "3000"])),
        "winks_limit": draw(st.sampled_from(["wide", "none"])),
        "winks_debt": draw(st.sampled_from(["yes", "no"])),
        "winks_limit_when_idle": draw(st.sampled_from(["spare", "strict"])),
        "winks_accounting": draw(st.sampled_from(["schedule", "dispatch"])),
        "winks_preempt_after": draw(st.sampled_from(["0", "0", "300"])),
    }
    chosen = replace(
        run_settings.with_policies(
            queueing=draw(st.sampled_from(["winks", "winks", "winks", "budget", "priority", "edf"]))
        ),
        flow_weights={"a": 5.0, "b": draw(st.sampled_from([0.1, 3.0]))},
        policy_options={**run_settings.policy_options, **options},
    )
    return replace(workload, leases=leases), chosen


@_EXAMPLES
@given(_shared())
def test_every_lease_is_served_and_no_charge_is_left(shared: tuple[Workload, RunSettings]) -> None:
    workload, run_settings = shared
    run = Run(workload, run_settings)
    result = run.execute()

    check_result(result, workload, exact=True)
    assert all(lease.state in (LeaseState.DONE, LeaseState.REJECTED) for lease in result.leases)
    if isinstance(run.planner.queueing, Winks):
        kept = run.planner.queueing.take_changes()
        assert not [subject for subject, entry in kept.items() if subject.startswith("lease:") and entry is not None]
        assert all(report.queued == 0 for report in run.planner.queueing.flows(result.leases[-1].ended or 0))


class _Checked(Winks):
    """Compares what it remembers of the share of a window with what follows from all flows."""

    def _share_per_weight(self, now: int) -> float:
        found = super()._share_per_weight(now)
        assert found == self._shares.share_per_weight(now)
        return found


@_EXAMPLES
@given(_shared(), st.data())
def test_the_share_of_a_window_follows_from_all_flows(
    shared: tuple[Workload, RunSettings], data: st.DataObject
) -> None:
    workload, run_settings = shared
    assert workload.site is not None
    chosen = replace(
        run_settings.with_policies(queueing="winks"),
        cloud=data.draw(clouds(len(workload.site))),
        policy_options={**run_settings.policy_options, "winks_window": data.draw(st.sampled_from(["60", "600"]))},
    )
    run = Run(workload, chosen)
    policy = run.planner.queueing
    assert isinstance(policy, Winks)
    policy.__class__ = _Checked
    run.execute()


@_EXAMPLES
@given(_shared(), st.sets(st.integers(1, 60), max_size=10).map(frozenset), st.data())
def test_an_engine_that_takes_over_goes_on_with_the_same_clocks(
    shared: tuple[Workload, RunSettings], restarts: frozenset[int], data: st.DataObject
) -> None:
    """Late operations and dead hosts too; failures in a row are not stored, so there are none."""
    workload, run_settings = shared
    assert workload.site is not None
    cloud = replace(
        data.draw(clouds(len(workload.site))),
        boot_failure_probability=0.0,
        resume_failure_probability=0.0,
        suspend_failure_probability=0.0,
    )
    chosen = replace(run_settings, cloud=cloud)

    assert outcome_of(workload, chosen, restarts) == outcome_of(workload, chosen, frozenset())


@settings(_EXAMPLES, max_examples=15)
@given(
    st.sampled_from([1, 2, 5]),
    st.lists(st.integers(1, 5), min_size=2, max_size=3),
    st.sets(st.integers(1, 200), max_size=8).map(frozenset),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_each_backlogged_project_gets_its_share_within_the_bound(
    hosts: int, weights: list[int], restarts: frozenset[int], random: Random, fails: bool
) -> None:
    """Theorem 5.3.1, for what really ran: leases end early, hosts fail, and the engine is killed."""
    longest, node = 50, (NodeSet(1, Resources({VCPU: 100})),)
    names = {f"p{number}": Fraction(weight, sum(weights)) for number, weight in enumerate(weights)}
    leases = []
    for number in range(20 * hosts):
        for name in names:
            duration = random.randint(1, longest)
            real = random.randint(1, duration) if random.random() < 0.3 else None
            request = LeaseRequest(f"{name}-{number}", LeaseKind.BEST_EFFORT, node, 0, duration, user=name)
            leases.append(WorkloadLease(request, real))
    failures = tuple(HostFailure(random.randrange(hosts), 100 * each + 7, 20) for each in range(1, 4)) if fails else ()
    chosen = RunSettings(
        policies={"queueing": "winks"},
        cloud=CloudBehaviour(host_failures=failures),
        flow_weights={name: float(weight) for name, weight in zip(names, weights, strict=True)},
    )
    workload = Workload("backlog", tuple(leases), Site.homogeneous(hosts, Resources({VCPU: 100})))

    done, occupations, counters = outcome_of(workload, chosen, restarts)

    queued_until = min(
        max(lease.started for lease in done if lease.request.user == name and lease.started is not None)
        for name in names
    )
    completed: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    for lease in done:
        if lease.request.user is not None and lease.ended is not None and lease.ended <= queued_until:
            completed[lease.request.user].append((lease.ended, lease.accumulated))
    lost = counters.get("preemptions_with_loss", 0)
    backlogs = {name: Backlog(weight, longest) for name, weight in names.items()}
    for one, other in combinations(names, 2):
        lag = largest_lag(completed[one], completed[other], names[one], names[other])
        assert lag <= lag_bound(hosts, backlogs[one], backlogs[other], lost)
    assert occupations
