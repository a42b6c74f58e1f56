"""Clearing hosts: a reservation that moves other leases off its hosts, for example for maintenance."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import PLANNED_STATES, LeaseState
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.placing.deadline import plan_deadline, requested_start
from lease_scheduler.plan.placing.exact_placement import exact_holding, hosts_with_room, place_exactly
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.displacing import make_room
from lease_scheduler.plan.preempting.preemption import back_to_queue
from lease_scheduler.plan.preempting.remaining_work import plan_again, with_place


class InTheWayError(NotPlannableError):
    """Leases that can be neither preempted nor moved are in the way; the plan is as it was.

    :param leases: their ids
    :param problem: what is wrong, for people
    """

    def __init__(self, leases: tuple[str, ...], problem: str) -> None:
        super().__init__(problem)
        self.leases = leases


def starts_later(seconds: int) -> str:
    """Return the reason for people why a lease starts later than requested."""
    return f"starts {in_words(seconds)} later than requested: other leases are suspended first"


def place_clearing(
    context: PlanningContext,
    lease: Lease,
    start: int,
    now: int,
    *,
    deadline_preemption: bool,
    present: PresentHosts | None,
) -> Lease:
    """Give a reservation its place, and move leases that have not started to other places if needed.

    Reservations and immediate leases keep their interval, deadline leases their deadline. If one of them finds no other
    place, nothing changes.

    :param deadline_preemption: whether deadline leases may preempt each other
    :return: the lease's new value, which is in the plan
    :raises InTheWayError: some leases can be neither preempted nor moved
    """
    request = lease.request
    end = start + request.duration + context.suspension.shutdown_time(request)
    try:
        holding, in_the_way = place_exactly(context, request, start, now, may_preempt=True, present=present)
    except NotPlannableError:
        pass
    else:
        make_room(context, in_the_way, start, end, now)
        return context.plan.put(with_place(lease, holding))
    others = _holders(context, lease, start, end)
    loose = {other.lease_id: _loosened(other, start, end, now) for other in others}
    with context.plan.tentative():
        context.plan.put_all(value for value in loose.values() if value is not None)
        fixed = [other for other in others if loose[other.lease_id] is None and not other.request.may_be_preempted]
        try:
            holding, in_the_way = place_exactly(context, request, start, now, may_preempt=True, present=present)
        except NotPlannableError as error:
            if not fixed:
                raise
            raise _in_the_way(lease, fixed, "cannot be moved") from error
        make_room(context, in_the_way, start, end, now)
        placed = context.plan.put(with_place(lease, holding))
        stuck = []
        for other in others:
            value = loose[other.lease_id]
            if value is None or other.kind is LeaseKind.BEST_EFFORT:
                continue
            try:
                _placed_again(context, other, value, now, deadline_preemption=deadline_preemption)
            except NotPlannableError:
                stuck.append(other)
        if stuck:
            raise _in_the_way(lease, stuck, "have no other place")
    return placed


def _in_the_way(lease: Lease, others: list[Lease], problem: str) -> InTheWayError:
    ids = tuple(other.lease_id for other in others)
    return InTheWayError(ids, f"no place for lease {lease.lease_id}: leases that {problem}: {', '.join(ids)}")


def _holders(context: PlanningContext, lease: Lease, start: int, end: int) -> list[Lease]:
    """Return the leases that hold something on the hosts that the lease names, those with fixed times first."""
    site = context.plan.site
    wanted = {
        site.index[name]
        for node_set in lease.request.nodes
        for name in node_set.hosts or site.index
        if name in site.index
    }
    found = [
        other
        for other in context.plan.leases.values()
        if other.lease_id != lease.lease_id
        and any(r.start < end and start < r.end and not wanted.isdisjoint(r.assignment) for r in other.holdings)
    ]
    return sorted(found, key=lambda other: (other.kind.precedence, other.sequence))


def _loosened(lease: Lease, start: int, end: int, now: int) -> Lease | None:
    """Return the lease without the holding that is in the way, or None if that has started."""
    if lease.state in PLANNED_STATES and lease.holdings[0].first_instant > now:
        if lease.kind is LeaseKind.BEST_EFFORT:
            return back_to_queue(lease, "its hosts are cleared")
        waiting = LeaseState.PENDING if lease.saved_on is None else LeaseState.SUSPENDED_PENDING
        return lease.to(waiting, holdings=())
    first = lease.holdings[0]
    if lease.kind is LeaseKind.DEADLINE and lease.holdings[1:] and not (first.start < end and start < first.end):
        return replace(lease, holdings=(first,))
    return None


def _placed_again(
    context: PlanningContext, before: Lease, loose: Lease, now: int, *, deadline_preemption: bool
) -> Lease:
    plan = context.plan
    old = before.holdings[0]
    if before.kind.promises_interval:
        return plan.put(with_place(loose, _same_interval(context, before, old, now, may_preempt=True)))
    if loose.holdings or loose.saved_on is not None:
        return plan_again(context, loose, requested_start(loose, now))
    if len(before.holdings) == 1 and old.closing is Closing.SHUTDOWN:
        try:
            return plan.put(with_place(loose, _same_interval(context, before, old, now, may_preempt=False)))
        except NotPlannableError:
            pass
    return plan_deadline(context, loose, now, may_preempt=deadline_preemption)


def _same_interval(context: PlanningContext, lease: Lease, old: Holding, now: int, *, may_preempt: bool) -> Holding:
    """Return a holding for the same interval, on the same hosts where they are free.

    With ``may_preempt``, a reservation may preempt others for it.
    """
    terms = replace(lease.request, duration=old.run_end - old.run_start)
    assignment, in_the_way = hosts_with_room(
        context,
        terms,
        old.start,
        old.end,
        now,
        may_preempt=may_preempt and lease.kind is LeaseKind.RESERVATION,
        present=PresentHosts.of(lease.request, old.assignment),
    )
    make_room(context, in_the_way, old.start, old.end, now)
    return exact_holding(context, terms, assignment, old.start)
