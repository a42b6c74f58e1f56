"""Whatever else happens, leases that are moved while they run lose nothing (shirako F116, F117)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.relocation_options import RelocationOptions
from lease_scheduler.model.lease import PreemptionMode
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
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
        chosen,
        relocation="energy-aware",
        engine=replace(chosen.engine, relocation=limits),
        policy_options=options,
    )


@_EXAMPLES
@given(_movable())
def test_every_promise_is_kept(drawn: tuple[Workload, RunSettings]) -> None:
    workload, run_settings = drawn

    check_result(Run(workload, run_settings).execute(), workload, exact=True)


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
