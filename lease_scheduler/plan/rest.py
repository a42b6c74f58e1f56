"""What is left of a lease: the rest of a deadline lease by its deadline, and the states that go with a place."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.reservation import Closing, Reservation
from lease_scheduler.model.states import PLANNED_STATES, SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preemption import remaining_before, yet_to_run
from lease_scheduler.plan.soonest import place_whole


def with_place(lease: Lease, *reservations: Reservation) -> Lease:
    """A pending or queued lease, or one whose memory is saved, with hosts."""
    if lease.state in SUSPENDED_STATES:
        states = () if lease.state is LeaseState.SUSPENDED_SCHEDULED else (LeaseState.SUSPENDED_SCHEDULED,)
        return lease.to(*states, reservations=reservations)
    return lease.to(LeaseState.SCHEDULED, LeaseState.READY, reservations=reservations)


def plan_rest(context: PlanningContext, lease: Lease, earliest: int) -> Lease:
    """Plan what is left of a deadline lease after the reservations that it still has, the whole of it by its deadline.

    :raises NotPlannableError: there is no place in time
    """
    request = lease.request
    last = lease.reservations[-1] if lease.reservations else None
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
    reservation = place_whole(context, request, remaining, saved_on, earliest, request.deadline)
    if reservation is None:
        raise NotPlannableError(f"no place for the rest of lease {lease.lease_id} before its deadline")
    if last is not None:
        return context.plan.put(replace(lease, reservations=(*lease.reservations, reservation)))
    return context.plan.put(with_place(lease, reservation))


def plan_again(context: PlanningContext, lease: Lease, earliest: int) -> Lease:
    """Plan a deadline lease whose last place was taken away, as a whole or what comes after its other places.

    :raises NotPlannableError: there is no place in time
    """
    if lease.state in PLANNED_STATES and not lease.reservations:
        waiting = LeaseState.SUSPENDED_PENDING if lease.state in SUSPENDED_STATES else LeaseState.PENDING
        lease = lease.to(waiting)
    return plan_rest(context, lease, earliest)
