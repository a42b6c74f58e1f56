"""Early suspension of victims whose applications have saved their state before the planned instant."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.plan import NotPlannableError


def suspend_now(state: EngineState, lease: Lease, now: int) -> Change:
    """Begin the planned suspension of a running lease now.

    The caller publishes the change.

    :raises NotPlannableError: no suspension is planned, or the lease would miss its deadline; the plan is unchanged
    """
    if lease.active_since is None or lease.lease_id in state.runs.operating:
        raise NotPlannableError("it does not run")
    first = lease.holdings[0]
    if first.closing is not Closing.SUSPEND:
        raise NotPlannableError("it is not going to be suspended")
    begin = min(first.run_end, max(now, first.run_start + 1))
    sooner = replace(first, run_end=begin, end=begin + first.end - first.run_end)
    with state.planner.plan.tentative():
        suspended = state.put(replace(lease, holdings=(sooner,)))
        if lease.kind is LeaseKind.DEADLINE:
            # The suspension begins earlier, so more of the work remains.
            suspended = state.planner.place_rest(suspended, now, earliest=state.earliest(now))
    return Change(lease, suspended, ())
