"""Using capacity that becomes free earlier than planned (haizea F49, F59; Sotomayor 2010, section 5.5.4)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import PLANNED_STATES, SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.earliest_fit import place_whole
from lease_scheduler.plan.placing.elastic import placed_again
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.preemption import back_to_queue
from lease_scheduler.plan.preempting.remaining_work import plan_again, with_place

_NOT_BEGUN = (LeaseState.READY, LeaseState.SCHEDULED)


class _SamePlaceError(NotPlannableError):
    """Ends a tentative block that found the place that the lease already has."""


def replan_waiting(context: PlanningContext, now: int) -> int:
    """Plan all best-effort leases with a place in the future again, in the order of submission.

    A lease that takes as many nodes as are free gets fewer of them if it then starts sooner.

    No lease gets a later place than before, because its own place is free while it is planned. Hosts are chosen again
    even if the instant stays the same, as in Haizea, because the hosts that remain free decide what can be backfilled.

    :return: number of leases that were planned again
    """
    moved = 0
    for lease in context.plan.future_best_effort(now):
        if lease.state not in (LeaseState.READY, LeaseState.SCHEDULED, LeaseState.SUSPENDED_SCHEDULED):
            continue
        moved += _replan(context, lease, now)
    return moved


def _replan(context: PlanningContext, lease: Lease, now: int) -> bool:
    plan = context.plan
    old = lease.holdings[0]
    if old.first_instant < now:
        return False
    try:
        with plan.tentative():
            suspended = lease.state in SUSPENDED_STATES
            waiting = LeaseState.SUSPENDED_PENDING if suspended else LeaseState.PENDING
            loose = plan.put(lease.to(waiting, holdings=()))
            placed = placed_again(context, loose, now)
            if placed is None or placed.holdings[0].run_start > old.run_start:
                raise NotPlannableError("no better place")
            if plan.images is None and placed.holdings == lease.holdings and placed.state is lease.state:
                raise _SamePlaceError("nothing changes")
            plan.put(placed)
    except _SamePlaceError:
        return True
    except NotPlannableError:
        return False
    return True


def pull_deadline_leases(context: PlanningContext, nodes: int, now: int, window_end: int) -> int:
    """Move deadline leases into a window ``[now, window_end)`` that became free, least slack first.

    :param nodes: number of nodes that became free
    :return: number of leases that were moved
    """
    window = window_end - now
    if window <= 0:
        return 0
    candidates = []
    for lease in context.plan.leases.values():
        request = lease.request
        # The conditions that exclude most leases come first: there may be thousands, and this runs whenever one ends.
        if request.deadline is None or request.duration > window or lease.state not in _NOT_BEGUN:
            continue
        if lease.kind is not LeaseKind.DEADLINE or len(lease.holdings) != 1 or lease.is_offered:
            continue
        start = lease.holdings[0].start
        if request.start is None or start <= now or start == request.start:
            continue
        if request.node_count > nodes or request.duration > window_end - request.start:
            continue
        candidates.append(((request.deadline - now) / request.duration, lease.sequence, lease))
    candidates.sort(key=lambda entry: entry[:2])
    filled = moved = 0
    for _, _, lease in candidates:
        request = lease.request
        work = request.node_count * request.duration
        if filled + work > nodes * window:
            break
        if pull(context, lease, now, window_end):
            filled += work
            moved += 1
    return moved


def pull(context: PlanningContext, lease: Lease, now: int, window_end: int) -> bool:
    """Give a deadline lease that has not started an earlier place in ``[now, window_end)``.

    :return: whether there is one
    """
    plan = context.plan
    request = lease.request
    assert request.start is not None
    old = lease.holdings[0]
    try:
        with plan.tentative():
            loose = plan.put(lease.to(LeaseState.PENDING, holdings=()))
            holding = place_whole(context, request, lease.remaining, None, max(now, request.start), window_end)
            if holding is None or holding.start >= old.start:
                raise NotPlannableError("no better place")
            plan.put(with_place(loose, holding))
    except NotPlannableError:
        return False
    return True


def go_on(context: PlanningContext, lease: Lease, now: int) -> bool:
    """Let a running lease that was to be preempted run to its end on its hosts, if these are free again.

    Best-effort leases that were submitted later and have a place there, but have not started, go back to the queue:
    this lease would be resumed before them if it were suspended.

    :return: whether the lease keeps its hosts
    """
    plan = context.plan
    if lease.active_since is None or not lease.holdings:
        return False
    first, run_end = lease.holdings[0], lease.active_since + lease.remaining
    deadline = lease.request.deadline
    if first.closing is Closing.SHUTDOWN or run_end <= now or (deadline is not None and run_end > deadline):
        return False
    end = run_end + context.suspension.shutdown_time(lease.request)
    whole = replace(lease, holdings=(replace(first, run_end=run_end, end=end, closing=Closing.SHUTDOWN),))
    try:
        with plan.tentative():
            plan.put(replace(lease, holdings=()))
            for other in reversed(context.plan.future_best_effort(now)):
                if plan.has_room(whole, now, end):
                    break
                if _waits_on(first.hosts, other, end) and other.sequence > lease.sequence:
                    plan.put(back_to_queue(other, "the lease before it keeps its hosts"))
            if not plan.has_room(whole, now, end):
                raise NotPlannableError("other leases are in the way")
            plan.put(whole)
    except NotPlannableError:
        return False
    return True


def _waits_on(hosts: frozenset[int], lease: Lease, end: int) -> bool:
    """Return whether a lease that has not started has a place on some of the hosts before an instant."""
    return lease.state in PLANNED_STATES and any(
        r.start < end and not hosts.isdisjoint(r.assignment) for r in lease.holdings
    )


def back_sooner(context: PlanningContext, lease: Lease, now: int, earliest: int) -> bool:
    """Plan the rest of a displaced deadline lease again, if it is then done earlier.

    :param earliest: nothing is planned to start before this instant
    :return: whether it is done earlier
    """
    plan = context.plan
    if lease.kind is not LeaseKind.DEADLINE or lease.is_offered or not lease.holdings:
        return False
    has_begun = lease.state not in PLANNED_STATES or lease.holdings[0].first_instant <= now
    if len(lease.holdings) < 2 and (has_begun or lease.saved_on is None):
        return False
    kept = lease.holdings[:1] if has_begun else ()
    try:
        with plan.tentative():
            loose = plan.put(replace(lease, holdings=kept))
            planned = plan_again(context, loose, max(earliest, lease.request.start or 0))
            if planned.holdings[-1].run_end >= lease.holdings[-1].run_end:
                raise NotPlannableError("no better place")
    except NotPlannableError:
        return False
    return True
