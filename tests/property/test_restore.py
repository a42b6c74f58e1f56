"""An engine that takes over from one that died continues as if nothing had happened."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import Ports
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.result import Occupation
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, clouds, workloads


def take_over(run: Run, learnt: dict[str, Learnt] | None = None) -> None:
    """Replace the engine of a run by another one that knows only what the store and the operator know.

    :param learnt: what the queueing policy has stored; it is brought up to date
    """
    kept = {} if learnt is None else learnt
    for subject, entry in run.engine.policies.queueing.take_changes().items():
        if entry is None:
            kept.pop(subject, None)
        else:
            kept[subject] = json.loads(json.dumps(entry))
    old, old_plan, run_settings = run.engine, run.planner.plan, run.settings
    policies = load_policies(run_settings.policies, PolicyOptions(run_settings.policy_options))
    run.planner = Planner(
        run.site,
        run_settings.planning,
        policies,
        deadline_preemption=run_settings.deadline_preemption,
    )
    run.planner.weights = run_settings.flow_weights
    policies.queueing.restore(kept)
    run.engine = Engine(
        run.planner,
        policies,
        Ports(run.clock, run.cloud, run.store, run.recorder),
        run_settings.engine,
    )
    stored = list(run.store.load())
    run.engine.restore(stored, old.operations.values(), old.next_sequence, old.hosts.outages)

    now = run.clock.now()
    assert list(run.store.load()) == stored
    assert run.planner.plan.leases == old_plan.leases
    assert run.planner.plan.availability.forgotten(now).equals(old_plan.availability.forgotten(now))
    assert run.planner.plan.queue.in_order() == old_plan.queue.in_order()
    assert (run.engine.operations, run.engine.hosts.outages) == (old.operations, old.hosts.outages)
    assert run.engine.next_due() == old.next_due()


def outcome_of(
    workload: Workload, run_settings: RunSettings, restarts: frozenset[int]
) -> tuple[list[Lease], list[Occupation], dict[str, int]]:
    run = Run(workload, run_settings)
    steps = 0
    learnt: dict[str, Learnt] = {}
    while (instant := run.next_instant()) is not None:
        run.clock.set(max(run.clock.now(), instant))
        run.step()
        check_plan(run.planner.plan, run.clock.now())
        steps += 1
        if steps in restarts:
            take_over(run, learnt)
    run.end()
    return list(run.store.load()), run.recorder.occupations, dict(run.recorder.counters)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), RUN_SETTINGS, st.frozensets(st.integers(1, 40), min_size=1, max_size=3), st.data())
def test_the_outcome_is_that_of_an_engine_that_never_died(
    workload: Workload, run_settings: RunSettings, restarts: frozenset[int], data: st.DataObject
) -> None:
    """Whatever the cloud does, and however often the engine is replaced.

    One thing is not stored: how many boots, resumptions and suspensions of a lease have failed in a row.
    """
    assert workload.site is not None
    cloud = data.draw(clouds(len(workload.site)))
    exact = replace(
        cloud, boot_failure_probability=0.0, resume_failure_probability=0.0, suspend_failure_probability=0.0
    )
    chosen = replace(run_settings, cloud=data.draw(st.sampled_from([exact, run_settings.cloud])))

    assert outcome_of(workload, chosen, restarts) == outcome_of(workload, chosen, frozenset())
