"""Remaining work: planning the rest of a deadline lease by its deadline."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import PLANNED_STATES, SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.earliest_fit import place_whole
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.preemption import remaining_before, yet_to_run


def with_place(lease: Lease, *holdings: Holding) -> Lease:
    """Return a pending, queued or suspended lease with holdings and in the state that goes with them."""
    if lease.state in SUSPENDED_STATES:
        states = () if lease.state is LeaseState.SUSPENDED_SCHEDULED else (LeaseState.SUSPENDED_SCHEDULED,)
        return lease.to(*states, holdings=holdings)
    return lease.to(LeaseState.SCHEDULED, LeaseState.READY, holdings=holdings)


def plan_rest(context: PlanningContext, lease: Lease, earliest: int) -> Lease:
    """Plan the rest of a deadline lease after its present holdings, all of it by its deadline.

    :raises NotPlannableError: there is no place in time
    """
    request = lease.request
    last = lease.holdings[-1] if lease.holdings else None
    saved_on = lease.saved_on
    remaining = lease.remaining
    if last is not None:
        earliest = max(earliest, last.end)
        if last.closing is Closing.SUSPEND:
            saved_on = last.assignment
            remaining = remaining_before(lease, last) - yet_to_run(lease, last)
        else:
            saved_on = None
            remaining = request.duration
    assert request.deadline is not None
    holding = place_whole(context, request, remaining, saved_on, earliest, request.deadline)
    if holding is None:
        raise NotPlannableError(f"no place for the rest of lease {lease.lease_id} by its deadline")
    if last is not None:
        return context.plan.put(replace(lease, holdings=(*lease.holdings, holding)))
    return context.plan.put(with_place(lease, holding))


def plan_again(context: PlanningContext, lease: Lease, earliest: int) -> Lease:
    """Plan a deadline lease again whose last holding was taken away: all of it, or what follows its other holdings.

    :raises NotPlannableError: there is no place in time
    """
    if lease.state in PLANNED_STATES and not lease.holdings:
        waiting = LeaseState.SUSPENDED_PENDING if lease.state in SUSPENDED_STATES else LeaseState.PENDING
        lease = lease.to(waiting)
    return plan_rest(context, lease, earliest)
