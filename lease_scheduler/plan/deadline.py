"""Deadline leases (haizea F56-F58; Sotomayor 2010, section 5.3, algorithm 5)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.reservation import Closing, Reservation
from lease_scheduler.model.states import PLANNED_STATES, SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.exact import exact_reservation
from lease_scheduler.plan.imaging import at_start
from lease_scheduler.plan.mapper import map_vms, places_for
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preemption import evict, remaining_before, victims, yet_to_run
from lease_scheduler.plan.soonest import place_whole


def plan_deadline(context: PlanningContext, lease: Lease, now: int, *, may_preempt: bool) -> Lease:
    """Give a deadline lease its place, moving other deadline leases if that is needed and does them no harm.

    A lease with little slack is tried at its start first, preempting who can afford it. Otherwise, or if that fails,
    the earliest fit is taken. If there is none by the deadline, all deadline leases that are planned for later are
    planned again,
    least slack first.

    :param may_preempt: whether running and planned deadline leases may be preempted
    :return: the lease's new value, which is in the plan
    :raises NotPlannableError: the plan is as it was
    """
    request = lease.request
    start = requested_start(lease, now)
    assert request.deadline is not None and request.start is not None
    slack = (request.deadline - request.start) / request.duration
    if slack <= context.options.slack_threshold and start + request.duration <= request.deadline:
        try:
            return _plan_at_start(context, lease, start, now, may_preempt=may_preempt)
        except NotPlannableError:
            pass
    reservation = place_whole(context, request, lease.remaining, lease.saved_on, start, request.deadline)
    if reservation is not None:
        return context.plan.put(with_place(lease, reservation))
    if not context.options.least_slack_first:
        raise NotPlannableError(f"no place for lease {lease.lease_id} by its deadline")
    return _plan_least_slack_first(context, lease, start, now)


def with_place(lease: Lease, *reservations: Reservation) -> Lease:
    """A pending or queued lease, or one whose memory is saved, with hosts."""
    if lease.state in SUSPENDED_STATES:
        states = () if lease.state is LeaseState.SUSPENDED_SCHEDULED else (LeaseState.SUSPENDED_SCHEDULED,)
        return lease.to(*states, reservations=reservations)
    return lease.to(LeaseState.SCHEDULED, LeaseState.READY, reservations=reservations)


def requested_start(lease: Lease, now: int) -> int:
    """The earliest instant at which a deadline lease may begin; one that is offered not before it must be accepted."""
    return max(now, lease.request.start or 0, lease.offered_until or 0)


# -- at the requested start, with preemption that keeps the victims' deadlines (haizea F57) ------------------


def _plan_at_start(context: PlanningContext, lease: Lease, start: int, now: int, *, may_preempt: bool) -> Lease:
    end = start + lease.request.duration + context.suspension.shutdown_time(lease.request)
    candidates = victims(context, lease.request, start, end, now) if may_preempt else []
    _require_room(context, lease.request, start, end, candidates)
    placed, in_the_way = _map_moving(context, lease, start, end, candidates, now, in_vain=False)
    if placed is None:
        # Whoever was moved without need stays where he was, if the lease fits without it.
        needed = [victim for victim in candidates if victim.lease_id in in_the_way]
        try:
            placed, _ = _map_moving(context, lease, start, end, needed, now, in_vain=True)
        except NotPlannableError:
            placed, _ = _map_moving(context, lease, start, end, candidates, now, in_vain=True)
    assert placed is not None
    return placed


def _require_room(context: PlanningContext, request: LeaseRequest, start: int, end: int, others: list[Lease]) -> None:
    """Refuse at once what does not fit even if all the others hold nothing in the interval.

    :raises NotPlannableError: each node set by itself finds too few hosts
    """
    free = context.plan.without(others, start).free(start, end)
    if any(places_for(free, demand).sum() < demand.count for demand in at_start(context.plan, request, start)):
        raise NotPlannableError(f"no place for lease {request.lease_id} at its start, whoever makes room")


class _TriedError(NotPlannableError):
    """Ends a tentative block that was entered only to see whether it works."""


def _map_moving(
    context: PlanningContext, lease: Lease, start: int, end: int, candidates: list[Lease], now: int, *, in_vain: bool
) -> tuple[Lease | None, frozenset[str]]:
    """Map the lease for the interval, moving one victim after the other until it fits.

    :param in_vain: whether it may be that some were moved who did not hold anything of the lease's hosts; if not, and
        there are such, everything stays as it was
    :return: the lease's new value, none if everything stays, and the ids of the victims that held something of its
        hosts
    """
    plan = context.plan
    request = lease.request
    demands = at_start(plan, request, start)
    placed: Lease | None = None
    in_the_way: frozenset[str] = frozenset()
    try:
        with plan.tentative():
            moved: list[Lease] = []
            waiting = list(candidates)
            while (
                assignment := map_vms(
                    plan.availability, request, demands, start, end, context.selection, context.mapper
                )
            ) is None:
                while waiting:
                    victim = waiting.pop(0)
                    if _move(context, victim, start, end, now):
                        moved.append(victim)
                        break
                else:
                    raise NotPlannableError(f"no place for lease {request.lease_id} at its start")
            placed = plan.put(with_place(lease, exact_reservation(context, request, assignment, start)))
            hosts = set(assignment)
            in_the_way = frozenset(
                victim.lease_id
                for victim in moved
                if any(
                    r.start < end and start < r.end and not hosts.isdisjoint(r.assignment) for r in victim.reservations
                )
            )
            if not in_vain and len(in_the_way) < len(moved):
                raise _TriedError("tried")
    except _TriedError:
        placed = None
    return placed, in_the_way


def _move(context: PlanningContext, victim: Lease, start: int, end: int, now: int) -> bool:
    """Preempt a lease by ``start``.

    The rest of a deadline lease is planned after ``end``; nothing changes if that is too late for it. A best-effort
    lease goes
    back to the queue when it is suspended.
    """
    try:
        with context.plan.tentative():
            evicted = evict(context, victim, start, now)
            if victim.kind is LeaseKind.BEST_EFFORT:
                return True
            plan_rest(context, evicted, end)
    except NotPlannableError:
        return False
    return True


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


# -- least slack first (haizea F58) --------------------------------------------------------------------------


def _plan_least_slack_first(context: PlanningContext, lease: Lease, first_start: int, now: int) -> Lease:
    plan = context.plan
    with plan.tentative():
        order: list[tuple[float, int, Lease, int]] = []
        for other in list(plan.leases.values()):
            if other.kind is not LeaseKind.DEADLINE or not other.reservations or other.is_offered:
                continue
            last = other.reservations[-1]
            if last.first_instant <= now or last.end <= first_start:
                continue
            earliest = max(
                requested_start(other, now), other.reservations[-2].end if len(other.reservations) > 1 else 0
            )
            slack = _slack(other, remaining_before(other, last), earliest)
            order.append((slack, other.sequence, replace(other, reservations=other.reservations[:-1]), earliest))
        plan.put_all(stripped for _, _, stripped, _ in order)
        # If it does not even fit with all of them out of the way, no order helps.
        assert lease.request.deadline is not None
        if (
            place_whole(context, lease.request, lease.remaining, lease.saved_on, first_start, lease.request.deadline)
            is None
        ):
            raise NotPlannableError(f"no place for lease {lease.lease_id} by its deadline, whatever else is moved")
        order.append((_slack(lease, lease.remaining, first_start), lease.sequence, lease, first_start))
        order.sort(key=lambda entry: entry[:2])
        placed = lease
        for _, _, waiting, earliest in order:
            value = plan_again(context, waiting, earliest)
            if waiting.lease_id == lease.lease_id:
                placed = value
    return placed


def _slack(lease: Lease, remaining: int, earliest: int) -> float:
    """How often the remaining run fits between the earliest start and the deadline.

    Counted from the earliest start, as the slack of the first step of the algorithm is, because what lies before it is
    of no use to the lease.
    """
    assert lease.request.deadline is not None
    return (lease.request.deadline - earliest) / max(1, remaining)


def plan_again(context: PlanningContext, lease: Lease, earliest: int) -> Lease:
    """Plan a deadline lease whose last place was taken away, as a whole or what comes after its other places.

    :raises NotPlannableError: there is no place in time
    """
    if lease.state in PLANNED_STATES and not lease.reservations:
        waiting = LeaseState.SUSPENDED_PENDING if lease.state in SUSPENDED_STATES else LeaseState.PENDING
        lease = lease.to(waiting)
    return plan_rest(context, lease, earliest)
