"""Changes of the plan that follow a decision on where fluid leases run: pauses, moves, starts and resumptions.

The plan has the last word: a lease that cannot have its new hosts stays on its present ones, or waits, until the next
decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from lease_scheduler.engine.late_hosts import late_hosts_held
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.durations.migration import plan_migrations, stay_where_possible
from lease_scheduler.plan.fitting.phases import build_holding
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.remaining_work import with_place

#: Takes a lease that gets a place, and returns it with its promise and its price, or None if it does not get it.
Agree = Callable[[Lease], Lease | None]


class _NoRoomError(NotPlannableError):
    """The new hosts of a lease that should move lack free capacity."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(f"lease {lease.lease_id} has no room on its new hosts")
        self.lease_id = lease.lease_id


def carry_out(
    state: EngineState, leases: Sequence[Lease], wanted: Sequence[list[int] | None], now: int, agree: Agree | None
) -> None:
    """Change the plan so that leases run on the wanted hosts.

    :param leases: leases that run or wait
    :param wanted: sorted hosts of the nodes of each lease, or None if it should not run
    :param agree: called before a lease gets its first place; None if no agreement is needed
    """
    pairs = list(zip(leases, wanted, strict=True))
    running = [(lease, hosts) for lease, hosts in pairs if lease.active_since is not None]
    paused = [each for lease, hosts in running if hosts is None and (each := _pause(state, lease, now)) is not None]
    moved = [
        (lease, stay_where_possible(lease.request, tuple(hosts), lease.holdings[0].assignment))
        for lease, hosts in running
        if hosts is not None and hosts != sorted(lease.holdings[0].assignment)
    ]
    _move(state, moved, now)
    free_at = sorted({now, *(lease.holdings[0].end for lease in paused)})
    for lease, hosts in pairs:
        if lease.active_since is None and hosts is not None:
            _start(state, lease, tuple(hosts), free_at, now, agree)
    state.publish(now)
    # Evasion skips leases that the policy paused.
    ids = {lease.lease_id for lease in paused}
    state.runs.preempted[:] = [lease_id for lease_id in state.runs.preempted if lease_id not in ids]


def _pause(state: EngineState, lease: Lease, now: int) -> Lease | None:
    """Plan the suspension of a running lease as soon as possible, and return the lease.

    None if its present holding ends before such a suspension would.
    """
    context, first = state.planner.context, lease.holdings[0]
    begin = max(now + context.options.preemption_grace, first.run_start + 1)
    seconds = context.suspension.suspend_time(lease.request, first.assignment)
    end = begin + seconds + context.options.suspend_buffer
    if begin >= first.run_end or end > first.end:
        return None
    saved = replace(first, run_end=begin, end=end, closing=Closing.SUSPEND, charged=0)
    return state.put(replace(lease, holdings=(saved,)))


def _move(state: EngineState, moved: Iterable[tuple[Lease, tuple[int, ...]]], now: int) -> None:
    """Give running leases other hosts from now on, all at once, so that they can swap hosts."""
    wanted = {lease.lease_id: (lease, hosts) for lease, hosts in moved}
    while wanted:
        try:
            with late_hosts_held(state, now), state.planner.plan.tentative():
                for lease, _ in wanted.values():
                    state.put(replace(lease, holdings=()))
                after = [_moved(state, lease, hosts, now) for lease, hosts in wanted.values()]
        except _NoRoomError as error:
            # It stays where it is, perhaps in the way of others.
            del wanted[error.lease_id]
            continue
        for each in after:
            state.count_anew(wanted[each.lease_id][0], each, now)
        state.recorder.count("fluid_moves", len(after))
        return


def _moved(state: EngineState, lease: Lease, hosts: tuple[int, ...], now: int) -> Lease:
    assert lease.active_since is not None
    left = lease.remaining - (now - lease.active_since)
    holding = _holding(state, lease, hosts, now, left, None, now)
    if holding is None:
        raise _NoRoomError(lease)
    try:
        return state.put(replace(lease, holdings=(holding,)))
    except NotPlannableError:
        raise _NoRoomError(lease) from None


def _start(
    state: EngineState, lease: Lease, hosts: tuple[int, ...], instants: Iterable[int], now: int, agree: Agree | None
) -> None:
    """Start or resume a lease at the first of these instants at which its hosts have enough free capacity, if any."""
    context, saved_on = state.planner.context, lease.saved_on
    earliest = state.earliest(now)
    if saved_on is not None:
        hosts = stay_where_possible(lease.request, hosts, saved_on)
        rounds = plan_migrations(lease.request, saved_on, hosts, now, context.options)
        earliest = max(earliest, *(each.end for each in rounds)) if rounds else earliest
    for instant in dict.fromkeys(max(earliest, each) for each in instants):
        holding = _holding(state, lease, hosts, instant, lease.remaining, saved_on, now)
        if holding is None:
            continue
        try:
            with late_hosts_held(state, now), state.planner.plan.tentative():
                placed = state.put(with_place(lease, holding))
                if agree is not None and lease.started is None:
                    agreed = agree(placed)
                    if agreed is None:
                        raise NotPlannableError(f"lease {lease.lease_id} does not take its place")
                    state.put(agreed)
        except NotPlannableError:
            continue
        return


def _holding(
    state: EngineState,
    lease: Lease,
    hosts: tuple[int, ...],
    start: int,
    left: int,
    saved_on: tuple[int, ...] | None,
    now: int,
) -> Holding | None:
    """Return a holding on these hosts from an instant, until the work is done or something else is planned there.

    :param left: seconds that the lease has yet to run
    :return: None if the hosts lack free capacity, or have it for too short a time
    """
    context, plan = state.planner.context, state.planner.plan
    numbers, amounts = plan.holding(lease.request, hosts)
    times = plan.availability.places_on(numbers, amounts[:-1]).holding_times(start)
    if len(times) < len(numbers):
        return None
    until = int(times[-1])
    holding = build_holding(context, lease.request, hosts, start, until, left, saved_on, now)
    if holding is None or holding.closing is Closing.SHUTDOWN:
        return holding
    shortest = context.threshold(lease.request, resuming=saved_on is not None)
    return holding if holding.end - start >= shortest else None
