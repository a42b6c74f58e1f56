"""With ``room_lead = strict`` or ``charge`` no lease that can be suspended loses work, whatever is requested and when.

This holds under every preemption policy (contention F16-F22).
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import RoomLead, Suspension
from lease_scheduler.policy.loader import policy_names
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .random_runs import RUN_SETTINGS, workloads

#: All policies that preempt.
_POLICIES = sorted({*policy_names("preemption")} - {"no-preemption"})

_EXAMPLES = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _saving_state(lease: WorkloadLease) -> WorkloadLease:
    """Return the lease, suspendable if it is preemptible; reservations are requested at short notice more often."""
    request = lease.request
    mode = request.preemption_mode if request.preemption_mode.saves_state else PreemptionMode.SUSPEND
    start = request.start
    if request.kind is LeaseKind.RESERVATION and start is not None and start % 2:
        start = request.submitted + (start - request.submitted) // 20
    return replace(lease, request=replace(request, preemption_mode=mode, start=start))


@_EXAMPLES
@given(workloads(), RUN_SETTINGS, st.sampled_from(_POLICIES))
def test_no_lease_that_can_be_suspended_loses_work(workload: Workload, run_settings: RunSettings, policy: str) -> None:
    """No run is ever lost, and delays are announced: a done reservation started exactly when its terms last said."""
    asked = replace(workload, leases=tuple(_saving_state(lease) for lease in workload.leases))
    planning = replace(run_settings.planning, room_lead=RoomLead.STRICT, suspension=Suspension.ALL)
    chosen = replace(run_settings.with_policies(preemption=policy), planning=planning)

    result = Run(asked, chosen).execute()

    check_result(result, asked)
    assert result.counters.get("preemptions_with_loss", 0) == 0
    first_start = {lease.request.lease_id: lease.request.start for lease in asked.leases}
    for lease in result.leases:
        if lease.kind is LeaseKind.RESERVATION and lease.state is LeaseState.DONE:
            wanted, told = first_start[lease.lease_id], lease.request.start
            assert wanted is not None and told is not None
            assert lease.started == told >= wanted


def _lost_runs(workload: Workload, run_settings: RunSettings, lead: RoomLead) -> int:
    """Return how many runs were lost to reservations under a room lead."""
    asked = replace(workload, leases=tuple(_saving_state(lease) for lease in workload.leases))
    planning = replace(run_settings.planning, room_lead=lead, suspension=Suspension.ALL)
    result = Run(asked, replace(run_settings.with_policies(preemption="by-kind"), planning=planning)).execute()
    return result.counters.get("preemptions_with_loss", 0)


def test_with_lose_the_same_workloads_lose_work() -> None:
    """The property above is not vacuous: its examples have work to lose, and ``strict`` saves it."""
    workload, run_settings = find(
        st.tuples(workloads(), RUN_SETTINGS),
        lambda drawn: _lost_runs(drawn[0], drawn[1], RoomLead.LOSE) > 0,
        settings=settings(_EXAMPLES, max_examples=1000, phases=[Phase.generate], derandomize=True),
    )
    assert _lost_runs(workload, run_settings, RoomLead.STRICT) == 0


@_EXAMPLES
@given(workloads(), RUN_SETTINGS, st.sampled_from(_POLICIES))
def test_with_charge_every_start_and_all_work_is_kept(
    workload: Workload, run_settings: RunSettings, policy: str
) -> None:
    """Reservations start to the second, and no run is lost; the charged work is run once more."""
    whole = tuple(replace(_saving_state(lease), real_duration=None) for lease in workload.leases)
    asked = replace(workload, leases=whole)
    planning = replace(run_settings.planning, room_lead=RoomLead.CHARGE, suspension=Suspension.ALL)

    result = Run(asked, replace(run_settings.with_policies(preemption=policy), planning=planning)).execute()

    check_result(result, asked)
    assert result.counters.get("preemptions_with_loss", 0) == 0
    starts = {lease.request.lease_id: lease.request.start for lease in asked.leases}
    assert all(lease.request.start == starts[lease.lease_id] for lease in result.leases)
