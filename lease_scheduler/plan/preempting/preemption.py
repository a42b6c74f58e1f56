"""Making room for a lease by preempting others (haizea F36, F52, F53; Sotomayor 2010, sections 4.3.2 and 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import Assured
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.durations.preemption_times import PreemptionTimes
from lease_scheduler.plan.fitting.phases import cut_by_suspension, suspension_until
from lease_scheduler.plan.fitting.shortage import Shortage
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.plan.options import PreemptAt, RoomLead

#: The holding has not started, or it runs. In states between, a lease can only be suspended later.
_INTERRUPTIBLE = frozenset(
    {
        LeaseState.SCHEDULED,
        LeaseState.PREPARING,
        LeaseState.READY,
        LeaseState.ACTIVE,
        LeaseState.SUSPENDED_SCHEDULED,
    }
)

#: Maximum number of later instants that are tried for a start that waits for suspensions.
_MOST_ATTEMPTS = 32

#: The saved state is being loaded or has been loaded; the lease runs next.
_COMING_BACK = frozenset({LeaseState.RESUMING, LeaseState.RESUMED_READY})


def victims(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    now: int,
    makes_room: Callable[[LeaseRequest | None, Sequence[Lease]], bool],
) -> list[Lease]:
    """Return the leases that could be preempted for ``[start, end)``, the best victim first according to the policy.

    :param makes_room: see ``Shortage``
    """
    found, promised = [], []
    is_strict = context.options.room_lead is RoomLead.STRICT
    for lease, holding in context.plan.overlapping(start, end):
        victim = lease.request
        if not victim.may_be_preempted or not victim.nodes:
            continue
        if lease.is_offered:
            continue
        times = context.preemption_times(lease, holding.assignment)
        suspended = _can_be_cut(context, lease, holding, times, start, now)
        if not suspended:
            if lease.state not in _INTERRUPTIBLE or _shuts_down(lease):
                continue
            if not _has_grace(context, lease, start, now) or (is_strict and _has_work_to_save(context, lease)):
                continue
        run_so_far = max(0, start - holding.run_start)
        assured_until = lease.assured_until
        if assured_until is not None and lease.grant.assured is Assured.PLANNED:
            leaves = _cut(context, lease, holding, start, now).run_end if suspended else start
            if leaves < assured_until:
                continue
        remaining = remaining_before(lease, holding) - (run_so_far if times.overhead else 0)
        candidate = Victim(lease, max(1, remaining), times.overhead)
        score = context.preemption.score(request, candidate, start)
        if score >= 0:
            if assured_until is not None and start < assured_until:
                promised.append(lease)
            else:
                found.append((-score, lease.sequence, candidate))
    found.sort(key=lambda entry: entry[:2])
    candidates = [candidate for _, _, candidate in found]
    # Those that were promised a lifetime come last, the latest promise first: a promise does not depend on later
    # ones (Pucher 2016, section 4.3.2).
    promised.sort(key=lambda lease: (lease.started or lease.holdings[0].run_start, lease.sequence), reverse=True)
    if not candidates:
        return promised
    shortage = Shortage(context.plan, request, start, end, makes_room)
    chosen = context.preemption.choose(request, candidates, shortage)
    return [*(candidate.lease for candidate in chosen), *promised]


def is_preempted(before: Lease, after: Lease) -> bool:
    """Return whether a change of the plan preempts a lease.

    A preempted lease loses its place, or has to leave its hosts before its run ends. A lease that only gets another
    place is moved, not preempted.
    """
    if not before.holdings or after.is_final:
        return False
    cuts = (each for each in after.holdings if each.closing is not Closing.SHUTDOWN)
    return not after.holdings or any(each not in before.holdings for each in cuts)


def loses_work(before: Lease, after: Lease) -> bool:
    """Return whether a lease that is preempted runs, and will start over."""
    return before.active_since is not None and (not after.holdings or after.holdings[0].closing is Closing.KILL)


def _has_grace(context: PlanningContext, lease: Lease, at: int, now: int) -> bool:
    """Return whether a lease that would lose its work at ``at`` still gets its grace period."""
    lost_at = at if context.options.preempt_at is PreemptAt.START else now
    return lease.active_since is None or lost_at >= now + context.options.preemption_grace


def _has_work_to_save(context: PlanningContext, lease: Lease) -> bool:
    """Return whether a lease runs and can be suspended, so that it loses work if it is not."""
    return lease.active_since is not None and context.suspension.can_suspend(lease.request)


def instants_of_room(context: PlanningContext, start: int, end: int, now: int) -> list[int]:
    """Return the instants in ``[start + 1, end)`` at which to try a start that waits for suspensions, ascending.

    These are the instants at which the suspension of each lease that runs or is being resumed would end if it began at
    once, and at which suspensions that are going on end. The result is empty if the options do not let starts wait.

    :param now: when suspensions could begin
    """
    if context.options.room_lead is not RoomLead.STRICT:
        return []
    found = set()
    for lease, holding in context.plan.overlapping(start, start + 1):
        if lease.state is LeaseState.SUSPENDING:
            found.add(holding.end)
        elif (
            not lease.is_offered
            and (lease.active_since is not None or lease.state in _COMING_BACK)
            and (times := context.preemption_times(lease, holding.assignment)).can_suspend
        ):
            begin = max(_earliest(context, lease, now), holding.run_start + 1)
            found.add(min(begin + times.suspend + context.options.suspend_buffer, holding.end))
    instants = sorted(instant for instant in found if start < instant < end)
    step = -(-len(instants) // _MOST_ATTEMPTS) or 1
    # Always try the last one: it is the likeliest to fit, as all leases can be out of the way by then.
    return [*instants[:-1:step], *instants[-1:]]


def _shuts_down(lease: Lease) -> bool:
    """Return whether the lease's run is over and its nodes are being stopped."""
    return lease.state is LeaseState.ACTIVE and lease.active_since is None


def remaining_before(lease: Lease, holding: Holding) -> int:
    """Return the seconds that a lease has yet to run when one of its holdings begins."""
    if len(lease.holdings) == 1:
        return lease.remaining
    return lease.remaining - sum(yet_to_run(lease, r) for r in lease.holdings if r.start < holding.start)


def yet_to_run(lease: Lease, holding: Holding) -> int:
    """Return the seconds of run in one of a lease's holdings that are not yet counted as accumulated."""
    # The run before a suspension is counted as accumulated when the suspension begins.
    if lease.state is LeaseState.SUSPENDING and holding is lease.holdings[0]:
        return 0
    charged = holding.charged if holding.closing is Closing.SUSPEND else 0
    return holding.run_end - holding.run_start - charged


def evict(context: PlanningContext, lease: Lease, at: int, now: int) -> Lease:
    """Preempt a lease in the plan, so that it holds nothing from ``at`` on, and return its new value.

    It is suspended by ``at`` if that is possible and it will have run long enough for that to pay off. Otherwise it
    goes back to the queue and its work is lost: at once if it does not run, else now or at ``at``, depending on the
    options.
    """
    kept = tuple(r for r in lease.holdings if r.end <= at)
    current = next((r for r in lease.holdings if r.start < at < r.end), None)
    if current is not None:
        times = context.preemption_times(lease, current.assignment)
        if _can_be_cut(context, lease, current, times, at, now):
            return context.plan.put(replace(lease, holdings=(*kept, _cut(context, lease, current, at, now))))
    if context.options.room_lead is RoomLead.CHARGE and _has_work_to_save(context, lease) and not kept:
        return context.plan.put(_saved_in_no_time(context, lease, at))
    if current is not None and lease.state is LeaseState.ACTIVE and current is lease.holdings[0]:
        if context.options.preempt_at is PreemptAt.START and at > now:
            killed = replace(current, run_end=at, end=at, closing=Closing.KILL)
            return context.plan.put(replace(lease, holdings=(killed,)))
        return context.plan.put(lost_work(lease, "preempted without its state being saved"))
    if lease.active_since is not None and not kept:
        # It has only just started.
        return context.plan.put(lost_work(lease, "preempted when it had just started"))
    if kept:
        # Its earlier holdings stay; the lease is planned again when they are over.
        return context.plan.put(replace(lease, holdings=kept))
    return context.plan.put(back_to_queue(lease, "its place was preempted before it started"))


def _saved_in_no_time(context: PlanningContext, lease: Lease, at: int) -> Lease:
    """Return a running lease that is suspended at ``at`` in no time and loses work in exchange."""
    first = lease.holdings[0]
    done = lease.accumulated + max(0, at - first.run_start)
    charged = min(done, context.suspension.suspend_time(lease.request, first.assignment))
    saved = replace(first, run_end=at, end=at, closing=Closing.SUSPEND, charged=charged)
    return replace(lease, holdings=(saved,))


def back_to_queue(lease: Lease, reason: str) -> Lease:
    """Return a lease that has not started back in the queue, without its place."""
    state = LeaseState.SUSPENDED_QUEUED if lease.state in SUSPENDED_STATES else LeaseState.QUEUED
    return lease.to(state, reason=reason, holdings=())


def lost_work(lease: Lease, reason: str) -> Lease:
    """Return a running lease back in the queue, without its work: it will start over."""
    return replace(
        lease.to(LeaseState.QUEUED, reason=reason), holdings=(), accumulated=0, saved_on=None, active_since=None
    )


def _earliest(context: PlanningContext, lease: Lease, now: int) -> int:
    """Return the earliest instant at which the suspension of a lease may begin."""
    return now if lease.active_since is None else now + context.options.preemption_grace


def _cut(context: PlanningContext, lease: Lease, holding: Holding, at: int, now: int) -> Holding:
    return cut_by_suspension(context, lease.request, holding, at, _earliest(context, lease, now))


def _can_be_cut(
    context: PlanningContext, lease: Lease, holding: Holding, times: PreemptionTimes, at: int, now: int
) -> bool:
    """Return whether the holding can be cut by a suspension that is over at ``at``."""
    if not times.can_suspend or not holding.start < at:
        return False
    if holding.closing is Closing.SHUTDOWN and holding.run_end < now:
        return False
    earliest = _earliest(context, lease, now)
    run_end, _ = suspension_until(context, times.suspend, at, earliest)
    resuming = holding.run_start > holding.start
    # The threshold is for runs that are planned. A lease that runs already would lose work, however short its run was.
    must_be_saved = context.options.room_lead is RoomLead.STRICT and (
        lease.active_since is not None or lease.state in _COMING_BACK
    )
    return (
        run_end > max(holding.run_start, earliest - 1)
        and run_end <= holding.run_end
        and (must_be_saved or at - holding.run_start >= context.threshold(lease.request, resuming=resuming))
        and lease.state is not LeaseState.SUSPENDING
    )
