"""Obstacles: the deadline leases that keep a reservation from being granted."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.explaining.trials import Trials
from lease_scheduler.plan.fitting.host_fit import latest_end
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.plan.planner import Planner


def deadline_leases_in_the_way(planner: Planner, request: LeaseRequest, start: int, now: int) -> int:
    """Return how many deadline leases cannot all make room for a refused reservation.

    It is 0 if the reservation would not fit without them either, or if it would fit with them.
    """
    if request.kind is not LeaseKind.RESERVATION:
        return 0
    context, plan = planner.context, planner.plan
    length = request.duration + context.suspension.shutdown_time(request)
    shortest = replace(request, duration=1)

    def could_wait(lease: Lease) -> bool:
        """Return whether a lease would make room if its deadline were far away."""
        patient = replace(lease, request=replace(lease.request, deadline=start + UNLIMITED))
        return context.preemption.score(shortest, Victim(patient, 1, 0), start) >= 0

    staying = [
        lease
        for lease, _ in plan.overlapping(start, start + length)
        if lease.kind is LeaseKind.DEADLINE and not lease.is_offered and could_wait(lease)
    ]
    if not staying:
        return 0
    promised_nothing = [
        lease
        for lease in Trials(planner, now, 0).possible_victims(request, start)
        if lease.kind is not LeaseKind.DEADLINE
    ]

    def fits(availability: Availability) -> bool:
        return latest_end(availability, plan.demands(request), start) - start >= length

    if fits(plan.without(promised_nothing, start)) or not fits(plan.without([*promised_nothing, *staying], start)):
        return 0
    return len(staying)
