"""Random sites, leases, options and clouds, from the first request to the last end (haizea F92).

Whatever is drawn, the invariants hold at every step. Every promise is kept if the cloud works as planned; if it does
not, nothing is lost or oversold.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.result import Phase
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, check_hosts, clouds, workloads

_EXAMPLES = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check_run(workload: Workload, run_settings: RunSettings, exact: bool) -> None:
    """Run it and check the invariants; if the cloud works as planned, also the promises."""
    result = Run(workload, run_settings).execute()

    check_result(result, workload, exact=exact)
    requests = {lease.lease_id: lease.request for lease in result.leases}
    possible = {LeaseState.DONE, LeaseState.REJECTED} | (set() if exact else {LeaseState.FAILED})
    runs = Counter(occupation.lease_id for occupation in result.occupations if occupation.phase is Phase.RUN)
    for occupation in result.occupations:
        check_hosts(requests[occupation.lease_id], result.site, occupation.assignment)
    for lease in result.leases:
        assert lease.state in possible, (lease.lease_id, lease.state, lease.reason)
        assert lease.ended is not None
        if lease.state is not LeaseState.DONE:
            assert lease.reason, lease.lease_id
        elif exact and lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE):
            assert runs[lease.lease_id] == 1, f"lease {lease.lease_id} was interrupted"
        if lease.state is LeaseState.REJECTED:
            assert lease.started is None and not runs[lease.lease_id]


@_EXAMPLES
@given(workloads(), RUN_SETTINGS)
def test_every_promise_is_kept_when_the_cloud_obeys(workload: Workload, run_settings: RunSettings) -> None:
    """haizea F50, F53-F59, F92: every accepted lease gets all that it requested, in time."""
    check_run(workload, run_settings, exact=True)


@_EXAMPLES
@given(workloads(), RUN_SETTINGS, st.data())
def test_no_lease_is_lost_or_oversold_when_the_cloud_deviates(
    workload: Workload, run_settings: RunSettings, data: st.DataObject
) -> None:
    """haizea F95: late operations, failed boots and resumptions, dead hosts."""
    assert workload.site is not None
    cloud = data.draw(clouds(len(workload.site)))

    check_run(workload, replace(run_settings, cloud=cloud), exact=False)


@settings(_EXAMPLES, max_examples=120)
@given(workloads(), RUN_SETTINGS, st.data())
def test_the_same_input_gives_the_same_run(workload: Workload, run_settings: RunSettings, data: st.DataObject) -> None:
    """The same input and seed give the same result, whatever the cloud does."""
    assert workload.site is not None
    chosen = replace(run_settings, cloud=data.draw(clouds(len(workload.site))))

    first, second = (Run(workload, chosen).execute() for _ in range(2))

    assert replace(first, wall_s=0.0, peak_rss_bytes=0) == replace(second, wall_s=0.0, peak_rss_bytes=0)
