"""Whatever happens to leases, their history gives the reasons."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, event, given, settings

from lease_scheduler.model.lease import Lease
from lease_scheduler.service.core.history import move_of, reason_of
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload
from tests.property.random_runs import workloads


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads())
def test_every_transition_of_a_day_has_a_reason(workload: Workload) -> None:
    """Reasons name other leases by kind only, and only moves off a host count as moves."""
    run = Run(workload, RunSettings())
    known: dict[str, Lease] = {}
    save: Any = run.store.save

    def look(lease: Lease) -> None:
        before = known.get(lease.lease_id)
        known[lease.lease_id] = lease
        reason = reason_of(before, lease, known.values(), {})
        if before is None or before.state is not lease.state:
            assert reason, lease.state
            event(lease.state.value)
        if lease.state.value == "suspending":
            event(reason)
        move = move_of(before, lease, known.values(), {}, str)
        if move:
            assert before is not None
            assert before.holdings[0].hosts - lease.holdings[0].hosts
            event("moved")
        save(lease)

    run.engine._state.store.save = look  # type: ignore[method-assign]
    run.execute()
    assert known
