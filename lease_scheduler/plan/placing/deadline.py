"""Deadline leases (haizea F56-F58; Sotomayor 2010, section 5.3, algorithm 5)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.earliest_fit import place_whole
from lease_scheduler.plan.placing.exact_placement import exact_holding
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.displacing import can_make_room, displace
from lease_scheduler.plan.preempting.preemption import instants_of_room, remaining_before, victims
from lease_scheduler.plan.preempting.remaining_work import plan_again, with_place


def plan_deadline(context: PlanningContext, lease: Lease, now: int, *, may_preempt: bool) -> Lease:
    """Give a deadline lease its place, moving other deadline leases if needed and if these still meet their deadlines.

    1. A lease with little slack is tried at its requested start, preempting leases that can wait.
    2. If the options let starts wait for suspensions, it is then tried at the instants before its earliest fit at which
       running leases could be suspended.
    3. Otherwise, and for all other leases, the earliest fit is taken.
    4. If there is no fit by the deadline, all deadline leases that are planned for later are planned again, least slack
       first.

    :param may_preempt: whether running and planned deadline leases may be preempted
    :return: the lease's new value, which is in the plan
    :raises NotPlannableError: there is no place; the plan is as it was
    """
    request = lease.request
    start = requested_start(lease, now)
    assert request.deadline is not None and request.start is not None
    slack = (request.deadline - request.start) / request.duration
    is_tight = slack <= context.options.slack_threshold and start + request.duration <= request.deadline
    if is_tight:
        with suppress(NotPlannableError):
            return _plan_at_start(context, lease, start, now, may_preempt=may_preempt)
    holding = place_whole(context, request, lease.remaining, lease.saved_on, start, request.deadline)
    if is_tight and may_preempt:
        latest = request.deadline - request.duration if holding is None else holding.start - 1
        for later in instants_of_room(context, start, latest + 1, max(now, lease.offered_until or 0)):
            with suppress(NotPlannableError):
                return _plan_at_start(context, lease, later, now, may_preempt=True)
    if holding is not None:
        return context.plan.put(with_place(lease, holding))
    if not context.options.least_slack_first:
        raise NotPlannableError(f"no place for lease {lease.lease_id} by its deadline")
    return _plan_least_slack_first(context, lease, start, now)


def requested_start(lease: Lease, now: int) -> int:
    """Return the earliest instant at which a deadline lease may start. An offer cannot start before it expires."""
    return max(now, lease.request.start or 0, lease.offered_until or 0)


# -- at the requested start, with preemption that keeps the victims' deadlines (haizea F57) ------------------


def _plan_at_start(context: PlanningContext, lease: Lease, start: int, now: int, *, may_preempt: bool) -> Lease:
    request = lease.request
    end = start + request.duration + context.suspension.shutdown_time(request)
    makes_room = partial(can_make_room, context, start, end, now, None)
    candidates = victims(context, request, start, end, now, makes_room) if may_preempt else []
    with context.plan.tentative():
        assignment, _ = displace(context, request, start, end, candidates, now)
        return context.plan.put(with_place(lease, exact_holding(context, request, assignment, start)))


# -- least slack first (haizea F58) --------------------------------------------------------------------------


def _plan_least_slack_first(context: PlanningContext, lease: Lease, first_start: int, now: int) -> Lease:
    plan = context.plan
    with plan.tentative():
        order: list[tuple[float, int, Lease, int]] = []
        for other in list(plan.leases.values()):
            if other.kind is not LeaseKind.DEADLINE or not other.holdings or other.is_offered:
                continue
            last = other.holdings[-1]
            if last.first_instant <= now or last.end <= first_start:
                continue
            earliest = max(requested_start(other, now), other.holdings[-2].end if len(other.holdings) > 1 else 0)
            slack = _slack(other, remaining_before(other, last), earliest)
            order.append((slack, other.sequence, replace(other, holdings=other.holdings[:-1]), earliest))
        plan.put_all(stripped for _, _, stripped, _ in order)
        # If it does not fit even without all of them, no order helps.
        assert lease.request.deadline is not None
        if (
            place_whole(context, lease.request, lease.remaining, lease.saved_on, first_start, lease.request.deadline)
            is None
        ):
            raise NotPlannableError(f"no place for lease {lease.lease_id} by its deadline, even if others are moved")
        order.append((_slack(lease, lease.remaining, first_start), lease.sequence, lease, first_start))
        order.sort(key=lambda entry: entry[:2])
        placed = lease
        for _, _, waiting, earliest in order:
            value = plan_again(context, waiting, earliest)
            if waiting.lease_id == lease.lease_id:
                placed = value
    return placed


def _slack(lease: Lease, remaining: int, earliest: int) -> float:
    """Return how many times the remaining run fits between the earliest start and the deadline.

    The first step of the algorithm also counts slack from the earliest start: the lease cannot use the time before it.
    """
    assert lease.request.deadline is not None
    return (lease.request.deadline - earliest) / max(1, remaining)
