"""A place that was foreseen is the one that the turn would have given: reuse changes no decision."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.earliest_fit import place_soonest
from lease_scheduler.plan.queue.turn_places import TurnPlaces
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .random_runs import RUN_SETTINGS, clouds, workloads


@st.composite
def _assured(draw: st.DrawFn) -> Workload:
    """Draw a workload whose preemptible best-effort leases mostly want a lifetime."""
    workload = draw(workloads())
    leases: list[WorkloadLease] = []
    for lease in workload.leases:
        request = lease.request
        can_lose = request.preemptible and request.preemption_mode is not PreemptionMode.NONE
        if request.kind is LeaseKind.BEST_EFFORT and can_lose and draw(st.integers(0, 4)):
            seconds, waits = draw(st.sampled_from([60, 300, 1_000])), not draw(st.integers(0, 3))
            request = replace(request, min_lifetime=seconds, assurance=0.9, await_assurance=waits)
        leases.append(replace(lease, request=request))
    return replace(workload, leases=tuple(leases))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_assured(), RUN_SETTINGS, st.data())
def test_a_foreseen_place_decides_like_one_searched_anew(
    workload: Workload, run_settings: RunSettings, data: st.DataObject
) -> None:
    assert workload.site is not None
    chosen = replace(run_settings, cloud=data.draw(clouds(len(workload.site)))).with_policies(assurance="planned")
    with_reuse = Run(workload, chosen).execute()
    with mock.patch.object(TurnPlaces, "_known", return_value=None):
        without = Run(workload, chosen).execute()
    assert replace(with_reuse, wall_s=0.0, peak_rss_bytes=0) == replace(without, wall_s=0.0, peak_rss_bytes=0)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_assured(), RUN_SETTINGS)
def test_a_foreseen_place_is_the_earliest_one(workload: Workload, run_settings: RunSettings) -> None:
    """Looking first whether a lease can start at once changes no place."""
    foresee = TurnPlaces.foresee
    run = Run(workload, run_settings.with_policies(assurance="planned"))

    def checked(places: TurnPlaces, context: PlanningContext, lease: Lease, now: int) -> Holding | None:
        found = foresee(places, context, lease, now)
        assert found == place_soonest(context, lease, now, may_wait=True)
        return found

    with mock.patch.object(TurnPlaces, "foresee", checked):
        run.execute()
