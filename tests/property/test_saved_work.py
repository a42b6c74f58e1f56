"""Random runs in which no work may be lost because a step of the cloud is slow or fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, clouds, workloads

_SAVED = SUSPENDED_STATES | {LeaseState.SUSPENDING, LeaseState.RESUMING, LeaseState.RESUMED_READY}
_LOST = frozenset({LeaseState.QUEUED, LeaseState.FAILED})


def _watched(save: Callable[[Lease], None], known: dict[str, Lease]) -> Callable[[Lease], None]:
    def watch(lease: Lease) -> None:
        before = known.get(lease.lease_id)
        is_lost = before is not None and before.state in _SAVED and lease.state in _LOST
        assert not is_lost, (before, lease)
        known[lease.lease_id] = lease
        save(lease)

    return watch


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), RUN_SETTINGS, st.data())
def test_saved_work_is_never_lost(workload: Workload, run_settings: RunSettings, data: st.DataObject) -> None:
    """Only a dead host loses work, and none dies here; invariants hold at every step."""
    assert workload.site is not None
    cloud = replace(
        data.draw(clouds(len(workload.site))),
        host_failures=(),
        suspend_failure_probability=data.draw(st.sampled_from([0.0, 0.3, 0.8])),
        transfer_failure_probability=data.draw(st.sampled_from([0.0, 0.3])),
    )
    engine = replace(run_settings.engine, keeps_saved_work=True)
    run = Run(workload, replace(run_settings, cloud=cloud, engine=engine))
    known: dict[str, Lease] = {}
    run.store.save = _watched(run.store.save, known)  # type: ignore[assignment, method-assign]
    run.execute()
    # A lease that is not done waits with its work, and could not meet its deadline.
    for lease in known.values():
        waits = lease.state is LeaseState.SUSPENDED_PENDING and lease.request.deadline is not None
        assert lease.is_final or (waits and lease.accumulated > 0), lease
