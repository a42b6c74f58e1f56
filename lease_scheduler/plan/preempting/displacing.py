"""Displacing: preemption that keeps the deadlines of its victims.

Sotomayor 2010, section 5.3 (haizea F57): a deadline lease that is preempted is suspended, and the rest of it is planned
at once, after the interval that it makes room for and by its deadline. A victim without such a place is not preempted.
"""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.exact_mapping import Attempts
from lease_scheduler.plan.fitting.image_constraints import at_start
from lease_scheduler.plan.fitting.present_hosts import PresentHosts, map_keeping
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.preemption import evict
from lease_scheduler.plan.preempting.remaining_work import plan_rest


class _DisplacementTriedError(NotPlannableError):
    """Ends a tentative block that only tried whether the lease fits."""


def displace(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    candidates: list[Lease],
    now: int,
    *,
    at_once: int = 0,
    present: PresentHosts | None = None,
) -> tuple[tuple[int, ...], tuple[Lease, ...]]:
    """Find a host for each node in ``[start, end)``, moving victims one by one until the lease fits.

    Victims that hold nothing on the chosen hosts keep their places if the lease fits without moving them.

    :param candidates: possible victims, the best one first
    :param at_once: number of candidates to move before the first attempt, as fewer are known not to suffice
    :param present: hosts that nodes have already
    :return: the hosts, and the victims as they were before; their new values are in the plan
    :raises NotPlannableError: there is no place; the plan is as it was
    """
    plan = context.plan
    fewest = fewest_for_capacity(context, request, start, end, candidates)
    if fewest is None:
        raise NotPlannableError(f"no place for lease {request.lease_id} at its start, preemption included")
    needed: list[Lease] = []
    try:
        with plan.tentative():
            soonest = max(at_once, fewest)
            assignment, moved = _move_until_it_fits(context, request, start, end, candidates, now, soonest, present)
            needed = in_the_way(moved, assignment, start, end)
            if len(needed) < len(moved):
                raise _DisplacementTriedError("tried")
            return assignment, tuple(moved)
    except _DisplacementTriedError:
        pass
    first = {victim.lease_id for victim in candidates[:at_once]}
    needed_at_once = sum(victim.lease_id in first for victim in needed)
    try:
        with plan.tentative():
            assignment, moved = _move_until_it_fits(context, request, start, end, needed, now, needed_at_once, present)
    except NotPlannableError:
        soonest = max(at_once, fewest)
        assignment, moved = _move_until_it_fits(context, request, start, end, candidates, now, soonest, present)
    return assignment, tuple(moved)


def can_make_room(
    context: PlanningContext,
    start: int,
    end: int,
    now: int,
    present: PresentHosts | None,
    request: LeaseRequest | None,
    leases: Sequence[Lease],
) -> bool:
    """Return whether all these leases can be preempted and keep their deadlines, and a request, if any, then fits.

    The plan does not change.

    :param present: hosts that nodes of the request have already
    """
    plan = context.plan
    with plan.trial():
        if not all(_can_move_aside(context, lease, start, end, now) for lease in leases):
            return False
        if request is None:
            return True
        demands = at_start(plan, request, start)
        available = plan.availability
        hosts = map_keeping(available, request, demands, present, start, end, context.selection, context.mapper)
        return hosts is not None


def make_room(context: PlanningContext, in_the_way: tuple[Lease, ...], start: int, end: int, now: int) -> None:
    """Preempt leases in the plan, so that they hold nothing on their hosts in ``[start, end)``.

    :raises NotPlannableError: one of them could not meet its deadline; ``find_room`` does not choose such victims
    """
    for lease in in_the_way:
        move_aside(context, lease, start, end, now)


def move_aside(context: PlanningContext, victim: Lease, start: int, end: int, now: int) -> None:
    """Preempt a lease by ``start``.

    The rest of a deadline lease is planned after ``end``. A best-effort lease goes back to the queue once it is
    suspended.

    :raises NotPlannableError: the rest would not be done by the deadline; the plan is as it was
    """
    with context.plan.tentative():
        evicted = evict(context, victim, start, now)
        if victim.kind is LeaseKind.DEADLINE:
            plan_rest(context, evicted, end)


def fewest_for_capacity(
    context: PlanningContext, request: LeaseRequest, start: int, end: int, candidates: list[Lease]
) -> int | None:
    """Return how many candidates must at least be preempted so that each node set by itself fits, or None.

    It is 0 if each fits already, and None if preempting all candidates is not enough. Only the interval is considered
    and no hosts are chosen, which is much cheaper than mapping.
    """
    plan = context.plan
    demands = at_start(plan, request, start)
    interval = plan.availability.within(start, end)

    def suffice(count: int) -> bool:
        left = plan.without(candidates[:count], start, until=end, base=interval)
        return all(
            left.places(demand.amounts, demand.eligible, demand.per_host).throughout(start, end) >= demand.count
            for demand in demands
        )

    if not suffice(len(candidates)):
        return None
    too_few, enough, step = -1, len(candidates), 1
    # Mostly a few of many suffice, and a test costs more the more leases it leaves out.
    while too_few + step < enough:
        if suffice(too_few + step):
            enough = too_few + step
        else:
            too_few, step = too_few + step, 2 * step
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if suffice(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def _move_until_it_fits(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    candidates: list[Lease],
    now: int,
    at_once: int,
    present: PresentHosts | None,
) -> tuple[tuple[int, ...], list[Lease]]:
    plan = context.plan
    demands = at_start(plan, request, start)
    with plan.tentative():
        waiting = list(candidates)
        attempts = Attempts()
        moved = [victim for victim in waiting[:at_once] if _can_move_aside(context, victim, start, end, now)]
        del waiting[:at_once]
        while (
            assignment := map_keeping(
                plan.availability,
                request,
                demands,
                present,
                start,
                end,
                context.selection,
                context.mapper,
                # When nothing more can be moved, the answer has to be exact.
                attempts if waiting else None,
            )
        ) is None:
            while waiting:
                victim = waiting.pop(0)
                if _can_move_aside(context, victim, start, end, now):
                    moved.append(victim)
                    break
            else:
                if not attempts.are_missing:
                    raise NotPlannableError(f"no place for lease {request.lease_id} at its start")
                attempts = Attempts()
    return assignment, moved


def _can_move_aside(context: PlanningContext, victim: Lease, start: int, end: int, now: int) -> bool:
    """Move a victim aside, and return whether that was possible."""
    try:
        move_aside(context, victim, start, end, now)
    except NotPlannableError:
        return False
    return True


def in_the_way(victims: list[Lease], assignment: tuple[int, ...], start: int, end: int) -> list[Lease]:
    """Return the victims that held something on the chosen hosts in ``[start, end)``."""
    hosts = set(assignment)
    return [
        victim
        for victim in victims
        if any(r.start < end and start < r.end and not hosts.isdisjoint(r.assignment) for r in victim.holdings)
    ]
