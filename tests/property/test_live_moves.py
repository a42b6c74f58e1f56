"""Whatever else happens, leases that are moved while they run lose nothing (shirako F116, F117)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.relocation_options import RelocationOptions
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.plan.changing.moves import Placement
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.relocation.energy_aware import EnergyAware
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, clouds, workloads
from .test_restore import outcome_of

_EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def _movable(draw: st.DrawFn) -> tuple[Workload, RunSettings]:
    """Draw a workload of leases most of which may move while they run, and settings with which they do."""
    workload, chosen = draw(workloads()), draw(RUN_SETTINGS)
    leases = tuple(
        replace(lease, request=replace(lease.request, preemptible=True, preemption_mode=PreemptionMode.MIGRATE))
        if draw(st.integers(0, 3))
        else lease
        for lease in workload.leases
    )
    limits = RelocationOptions(
        interval=draw(st.sampled_from([20, 100])),
        budget=draw(st.sampled_from([2, 20])),
        rest=draw(st.sampled_from([1, 60, 300])),
    )
    options = {**chosen.policy_options, "energy_aware_threshold": "100"}
    return replace(workload, leases=leases), replace(
        chosen.with_policies(relocation="energy-aware"),
        engine=replace(chosen.engine, relocation=limits),
        policy_options=options,
    )


@_EXAMPLES
@given(_movable())
def test_every_promise_is_kept(drawn: tuple[Workload, RunSettings]) -> None:
    workload, run_settings = drawn

    check_result(Run(workload, run_settings).execute(), workload, exact=True)


@_EXAMPLES
@given(_movable())
def test_no_more_moves_at_once_than_allowed(drawn: tuple[Workload, RunSettings]) -> None:
    workload, run_settings = drawn
    moved = [0]

    def count(site: SiteRun) -> None:
        moved.append(site.recorder.counters["relocated_nodes"])

    Run(workload, run_settings).execute([count])
    assert all(after - before <= run_settings.engine.relocation.budget for before, after in pairwise(moved))


@st.composite
def _placements(draw: st.DrawFn) -> Placement:
    """Draw nodes on hosts that are overbooked."""
    hosts = draw(st.integers(1, 5))
    sizes = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=1, max_size=8))
    at = np.array(draw(st.lists(st.integers(0, hosts - 1), min_size=len(sizes), max_size=len(sizes))))
    amounts = np.array(sizes, dtype=np.int64).T
    used = np.zeros((2, hosts), dtype=np.int64)
    for node, host in enumerate(at.tolist()):
        used[:, host] += amounts[:, node]
    booked = np.array(
        draw(st.lists(st.lists(st.integers(0, 4), min_size=hosts, max_size=hosts), min_size=2, max_size=2))
    )
    free = np.array(draw(st.lists(st.lists(st.integers(0, 6), min_size=hosts, max_size=hosts), min_size=2, max_size=2)))
    usable = np.array(draw(st.lists(st.booleans(), min_size=hosts, max_size=hosts)))
    return Placement(used + booked + free, free, amounts, at, at, usable, (used + booked > 0).any(axis=0))


@given(_placements())
def test_consolidation_uses_no_more_hosts_than_before(placement: Placement) -> None:
    """What is booked keeps its room, in each order of the moves, and no host is used that was empty."""
    policy = EnergyAware(PolicyOptions({"energy_aware_threshold": "100"}))
    at, free = placement.hosts.copy(), placement.free.copy()
    for move in policy.moves(placement):
        assert placement.usable[move.to]
        assert placement.in_use[move.to]
        free[:, at[move.node]] += placement.sizes[:, move.node]
        free[:, move.to] -= placement.sizes[:, move.node]
        at[move.node] = move.to
        assert (free >= 0).all()
    assert set(at.tolist()) <= set(placement.hosts.tolist()) | set(np.flatnonzero(placement.in_use).tolist())
    assert len(set(at.tolist())) <= len(set(placement.hosts.tolist()))


@_EXAMPLES
@given(_movable(), st.sets(st.integers(1, 60), max_size=10).map(frozenset), st.data())
def test_an_engine_that_takes_over_makes_the_same_moves(
    drawn: tuple[Workload, RunSettings], restarts: frozenset[int], data: st.DataObject
) -> None:
    workload, run_settings = drawn
    assert workload.site is not None
    cloud = replace(
        data.draw(clouds(len(workload.site))),
        boot_failure_probability=0.0,
        resume_failure_probability=0.0,
        suspend_failure_probability=0.0,
    )
    chosen = replace(run_settings, cloud=cloud)

    assert outcome_of(workload, chosen, restarts) == outcome_of(workload, chosen, frozenset())
