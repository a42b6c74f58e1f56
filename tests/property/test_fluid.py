"""Fluid leases share what is left, and other leases never notice (dfrs F1; issue 22)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import FULL
from lease_scheduler.model.resources import VCPU
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .random_runs import RUN_SETTINGS, clouds, workloads
from .test_restore import outcome_of, take_over

#: More than any of these workloads needs.
MOST_STEPS = 20_000

_EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def mixed(draw: st.DrawFn, *, works: bool) -> tuple[Workload, RunSettings]:
    """Draw a workload in which preemptible best-effort leases may be fluid.

    :param works: whether the real work of fluid leases may be over early, depending on their yields
    """
    workload, run_settings = draw(workloads()), draw(RUN_SETTINGS)
    assert workload.site is not None
    # Any host could give a node all that it needs. Otherwise a fluid lease may use fewer hosts than a rigid one.
    least = min(host.capacity.get(VCPU, 0) for host in workload.site.hosts)
    leases = tuple(_fluid(draw, lease, least, works=works) for lease in workload.leases)
    cloud = draw(clouds(len(workload.site)))
    exact = replace(
        cloud, boot_failure_probability=0.0, resume_failure_probability=0.0, suspend_failure_probability=0.0
    )
    return replace(workload, leases=leases), replace(run_settings.with_policies(fractional="max-min"), cloud=exact)


def _fluid(draw: st.DrawFn, lease: WorkloadLease, least: int, *, works: bool) -> WorkloadLease:
    request = lease.request
    if request.kind is not LeaseKind.BEST_EFFORT or not request.preemptible:
        return lease
    if request.preemption_mode is PreemptionMode.NONE or any(nodes.least_resources for nodes in request.nodes):
        return lease
    if any(nodes.resources.get(VCPU, 0) > least for nodes in request.nodes):
        return lease
    min_yield = draw(st.sampled_from([None, 0.0, 0.01, 0.3, 0.5, 1.0]))
    if min_yield is None:
        return lease
    fluid = replace(request, nodes=tuple(nodes.made_fluid(min_yield) for nodes in request.nodes), min_yield=min_yield)
    return WorkloadLease(fluid, lease.real_duration if works else None)


def _vms(lease: Lease) -> list[tuple[NodeSet, int]]:
    sets = (nodes for nodes in lease.request.nodes for _ in range(nodes.count))
    return list(zip(sets, lease.holdings[0].assignment, strict=True))


def check_shares(run: Run) -> None:
    """Check that no host gives more CPU than it has, and that each lease has what it holds."""
    now, plan = run.clock.now(), run.planner.plan
    if VCPU not in plan.classes:
        return
    used = -plan.rebuilt(now).free_at(now)[plan.classes.index(VCPU)] + np.array(
        [host.capacity.get(VCPU, 0) for host in run.site.hosts]
    )
    used = used.astype(float)
    for lease in plan.leases.values():
        if lease.active_since is None or lease.request.min_yield is None:
            continue
        assert lease.progress is not None
        for nodes, host in _vms(lease):
            held = nodes.resources.get(VCPU, 0)
            share = lease.progress.part * (held + nodes.fluid)
            assert share >= held * (1 - 1e-9) - (held + nodes.fluid) / FULL
            used[host] += max(0.0, share - held)
    for each, total in zip(run.site.hosts, used, strict=True):
        assert total <= each.capacity.get(VCPU, 0) + 1e-6


def run_with_checks(drawn: tuple[Workload, RunSettings], restarts: frozenset[int]) -> Run:
    """Return a run that has ended, in which the plan and the shares were checked at every instant.

    :param restarts: numbers of the steps after which another engine takes over
    """
    run, steps = Run(*drawn), 0
    while (instant := run.next_instant()) is not None:
        run.clock.set(max(run.clock.now(), instant))
        run.step()
        check_plan(run.planner.plan, run.clock.now())
        check_shares(run)
        steps += 1
        assert steps < MOST_STEPS, "it does not come to an end"
        if steps in restarts:
            take_over(run)
    return run


@_EXAMPLES
@given(mixed(works=True), st.frozensets(st.integers(1, 40), max_size=2))
def test_no_host_gives_more_than_it_has(drawn: tuple[Workload, RunSettings], restarts: frozenset[int]) -> None:
    """At every instant, also after restarts. ``check_plan`` adds that memory is never shared."""
    run = run_with_checks(drawn, restarts)
    for lease in run.store.load():
        if lease.progress is not None and lease.is_final:
            assert lease.progress.permille == 0
            assert 0 <= lease.progress.virtual <= FULL * lease.accumulated


@_EXAMPLES
@given(mixed(works=True), st.frozensets(st.integers(1, 40), min_size=1, max_size=3))
def test_virtual_time_is_that_of_an_engine_that_never_died(
    drawn: tuple[Workload, RunSettings], restarts: frozenset[int]
) -> None:
    assert outcome_of(*drawn, restarts) == outcome_of(*drawn, frozenset())


@_EXAMPLES
@given(mixed(works=False))
def test_sharing_changes_no_places(drawn: tuple[Workload, RunSettings]) -> None:
    """All leases have the same hosts at the same time as if fluid ones had only what they hold."""
    workload, run_settings = drawn
    rigid = replace(workload, leases=tuple(_made_rigid(lease) for lease in workload.leases))
    shared, occupations, counters = outcome_of(workload, run_settings, frozenset())
    alone, same_occupations, same_counters = outcome_of(
        rigid, run_settings.with_policies(fractional="none"), frozenset()
    )

    assert [_plain(lease) for lease in shared] == [_plain(lease) for lease in alone]
    assert occupations == same_occupations
    assert counters == same_counters


def _made_rigid(lease: WorkloadLease) -> WorkloadLease:
    nodes = tuple(replace(node_set, fluid=0) for node_set in lease.request.nodes)
    return replace(lease, request=replace(lease.request, nodes=nodes, min_yield=None))


def _plain(lease: Lease) -> Lease:
    # Refusals of fluid leases name all that a node needs, not what it holds.
    reason = "" if lease.kind is LeaseKind.BEST_EFFORT else lease.reason
    return replace(lease, request=_made_rigid(WorkloadLease(lease.request)).request, progress=None, reason=reason)
