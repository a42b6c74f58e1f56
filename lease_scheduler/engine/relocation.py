"""Relocation: leases that lose their places are moved, delayed or, as a last resort, ended with a reason."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.late_hosts import should_wait
from lease_scheduler.engine.retries import Retries
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease
from lease_scheduler.model.states import PLANNED_STATES, LeaseState
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.placing.exact_placement import place_exactly, place_until
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.displacing import make_room
from lease_scheduler.plan.preempting.preemption import back_to_queue
from lease_scheduler.plan.preempting.remaining_work import plan_again

#: States in which a lease holds hosts only in the plan.
_MOVABLE_STATES = PLANNED_STATES | {LeaseState.MIGRATING}


@dataclass(frozen=True)
class Expected:
    """Expected course of a late operation.

    :ivar end: instant at which it is expected to be over
    :ivar late: seconds by which suspensions that begin now are expected to take longer than planned
    """

    end: int
    late: int


class Relocation:
    """Search for other places for leases.

    :param state: state that the parts of the engine share
    :param retries: suspended leases that wait for another attempt
    :ivar delayed: ids of leases whose start was delayed because their hosts became free too late
    """

    def __init__(self, state: EngineState, retries: Retries) -> None:
        self._state = state
        self._retries = retries
        self.delayed: set[str] = set()

    def plan_rest_or_fail(self, lease: Lease, now: int, why: str) -> None:
        """Plan the rest of a deadline lease. If it cannot be done by the deadline, the lease waits or fails."""
        try:
            self._state.planner.place_rest(lease, now, earliest=self._state.earliest(now))
        except NotPlannableError:
            if self._state.options.keeps_saved_work and lease.state is LeaseState.SUSPENDED_PENDING:
                self._retries.wait(lease, now, why)
                return
            is_suspended_first = lease.state is LeaseState.SUSPENDING or (
                self._retries.keeps_work_of(lease) and lease.holdings[0].closing is Closing.SUSPEND
            )
            if self._state.options.keeps_saved_work and is_suspended_first:
                # Once it is suspended, it waits for another attempt.
                return
            self.tell_of_lost_terms(lease)
            self.fail(lease, now, f"{why}, and the rest cannot be done by its deadline")

    def replace_lost(self, lease: Lease, now: int, why: str) -> None:
        """Handle a lease that lost its servers or their saved state: it continues on other hosts, or starts over."""
        state = self._state
        operation = state.runs.end(lease.lease_id)
        if operation is not None:
            state.account(operation, lease, now)
        if lease.active_since is not None:
            lease = state.stop_counting(lease, now)
            is_over = lease.holdings[0].run_end <= now and lease.holdings[0].closing is Closing.SHUTDOWN
            # Leases of other kinds are promised work: one that started late may not be done at the end of its run.
            if lease.remaining <= 0 or (is_over and lease.kind.promises_interval):
                state.finish(lease, LeaseState.DONE, now, f"{why} when its run was over")
                return
        elif operation is not None and operation.kind is OperationKind.STOP:
            state.finish(lease, LeaseState.DONE, now, f"{why} during its shutdown")
            return
        if lease.kind.promises_interval:
            self._go_on_elsewhere(lease, now, why)
            return
        lost = lease
        if lease.state is not LeaseState.READY:
            lost = lease.to(LeaseState.QUEUED, reason=f"{why}; it starts over")
        elif lease.kind is LeaseKind.BEST_EFFORT:
            lost = lease.to(LeaseState.QUEUED, reason=f"{why}; it starts elsewhere")
        lost = state.put(replace(lost, holdings=(), accumulated=0, active_since=None, saved_on=None))
        if lease.kind is LeaseKind.DEADLINE:
            if lost.state is LeaseState.READY:
                lost = state.put(lost.to(LeaseState.PENDING, reason=why))
            self.plan_rest_or_fail(lost, now, why)

    def _go_on_elsewhere(self, lease: Lease, now: int, why: str) -> None:
        """Give a reservation other hosts for the rest of its interval, from now on."""
        state = self._state
        first = lease.holdings[0]
        # The nodes may have been booted ahead of the start.
        start = max(now, first.run_start) if lease.is_prepared else now
        loose = replace(lease, holdings=())
        if lease.state is LeaseState.ACTIVE:
            loose = state.breaches.without(loose.to(LeaseState.READY, reason=why), lease.request.charged_nodes, now)
        state.put(loose)
        self._place_interval(loose, start, first.run_end, now, why)

    def _place_interval(self, lease: Lease, start: int, end: int, now: int, why: str) -> bool:
        """Give a reservation hosts in ``[start, end)``, possibly by preemption, and return whether this succeeded.

        If there are no such hosts, the lease fails.
        """
        try:
            self._place_at(lease, start, end, now)
        except NotPlannableError:
            self.tell_of_lost_terms(lease)
            self.fail(lease, now, f"{why}, and no other hosts are free")
            return False
        return True

    def place_anew(self, lease: Lease, away: Collection[int], now: int) -> Lease | None:
        """Find hosts for the interval of a reservation that has not started.

        The caller makes sure that it has nothing in the cloud.

        :param away: indices of the nodes that must leave their hosts; the others keep theirs if possible
        :return: its new value, or None if there are no such hosts; the plan is then unchanged
        """
        first = lease.holdings[0]
        start = max(now, first.run_start)
        present = PresentHosts.of(
            lease.request, [None if node in away else host for node, host in enumerate(first.assignment)]
        )
        self._state.put(replace(lease, holdings=()))
        try:
            return self._place_at(lease, start, first.run_end, now, present)
        except NotPlannableError:
            self._state.put(lease)
            return None

    def _place_at(self, lease: Lease, start: int, end: int, now: int, present: PresentHosts | None = None) -> Lease:
        """Place a lease at ``start``, or as soon after it as other leases can be suspended.

        :raises NotPlannableError: there is no place
        """
        if end <= start:
            raise NotPlannableError("nothing of its interval is left")
        context = self._state.planner.context
        may_preempt = lease.kind is LeaseKind.RESERVATION
        holding, in_the_way = place_until(
            context, lease.request, start, end, now, may_preempt=may_preempt, present=present
        )
        self._remember_if_later(lease, holding.start, start)
        self._state.recorder.count("moved_reservations")
        make_room(context, in_the_way, holding.start, holding.end, now)
        return self._state.put(replace(lease, holdings=(holding,)))

    def move(self, lease: Lease, now: int, why: str) -> None:
        """Find another place for a lease that cannot keep its planned one."""
        state = self._state
        if lease.state is LeaseState.MIGRATING:
            # Another place is found when the present move of its memory is over.
            state.put(replace(lease, holdings=()))
            return
        if lease.kind is LeaseKind.BEST_EFFORT:
            if lease.state in PLANNED_STATES:
                state.put(back_to_queue(lease, why))
            return
        if lease.kind is LeaseKind.DEADLINE:
            if lease.state in PLANNED_STATES:
                waiting = LeaseState.SUSPENDED_PENDING if lease.saved_on is not None else LeaseState.PENDING
                loose = state.put(lease.to(waiting, reason=why, holdings=()))
            else:
                loose = state.put(replace(lease, holdings=lease.holdings[:1]))
            self.plan_rest_or_fail(loose, now, why)
            return
        if lease.state in PLANNED_STATES:
            holding = lease.holdings[0]
            loose = state.put(replace(lease, holdings=()))
            self._place_interval(loose, max(now, holding.run_start), holding.run_end, now, why)

    def make_way(
        self, hosts: frozenset[int], start: int, end: int, keep: str, expected: Expected | None = None
    ) -> None:
        """Move or delay leases that should start on hosts that are held for longer than planned.

        :param start: start of the additional time
        :param end: end of the additional time
        :param keep: id of the lease that holds the hosts
        :param expected: expected course of its operation, if this is late
        """
        plan = self._state.planner.plan
        if self.fits(hosts, start, end):
            return
        for lease in sorted(plan.leases.values(), key=most_binding, reverse=True):
            in_the_way = [r for r in lease.holdings if not hosts.isdisjoint(r.assignment) and r.start < end]
            if lease.lease_id == keep or not in_the_way:
                continue
            is_busy = lease.lease_id in self._state.runs.operating and lease.state is not LeaseState.MIGRATING
            if is_busy or lease.state not in _MOVABLE_STATES:
                if in_the_way[-1] is not lease.holdings[0]:
                    self._move_rest(lease, start)
            elif lease.kind.promises_interval:
                self._move_or_delay(lease, start, end, expected)
            else:
                self.move(lease, start, "its hosts were not free in time")
            if self.fits(hosts, start, end):
                return

    def _move_rest(self, lease: Lease, now: int) -> None:
        """Find another place for the rest of a deadline lease after its present holding.

        If there is none by its deadline, but the lease is suspended at the end of the present holding, the rest is
        planned again then, because hosts may become free earlier than planned.
        """
        kept = self._state.put(replace(lease, holdings=lease.holdings[:1]))
        if kept.holdings[0].closing is not Closing.SUSPEND:
            self.plan_rest_or_fail(kept, now, "its hosts were not free in time")
            return
        with suppress(NotPlannableError):
            self._state.planner.place_rest(kept, now, earliest=self._state.earliest(now))

    def _move_or_delay(self, lease: Lease, now: int, free_at: int, expected: Expected | None) -> None:
        holding = lease.holdings[0]
        context = self._state.planner.context
        if expected is not None and expected.late and expected.end < holding.run_end:
            # If it cannot wait for the late operation, leases are suspended for it in any case, late or not.
            context = replace(context, suspension=context.suspension.later_by(expected.late))
        begin = max(now, holding.run_start)
        if expected is not None and should_wait(self._state, lease, expected.end):
            self._delay(lease, free_at)
            return
        loose = self._state.put(replace(lease, holdings=()))
        try:
            if holding.run_end <= begin:
                raise NotPlannableError("nothing of its interval is left")
            moved, in_the_way = place_until(
                context,
                lease.request,
                begin,
                holding.run_end,
                now,
                may_preempt=lease.kind is LeaseKind.RESERVATION,
            )
        except NotPlannableError:
            self.tell_of_lost_terms(loose)
            if holding.run_end <= free_at:
                self.fail(loose, now, "its hosts were not free before it was over")
                return
            self._delay(lease, free_at)
            return
        make_room(context, in_the_way, moved.start, moved.end, now)
        self._state.recorder.count("moved_reservations")
        self._remember_if_later(lease, moved.start, begin)
        self._state.put(replace(loose, holdings=(moved,)))

    def _delay(self, lease: Lease, start: int) -> None:
        """Let a lease start later on its hosts, or as soon as they are free."""
        self.delayed.add(lease.lease_id)
        self._state.put(replace(lease, holdings=(replace(lease.holdings[0], start=start, run_start=start),)))

    def start_sooner(self, lease: Lease, begin: int, now: int) -> None:
        """Move a delayed reservation to hosts that are free from ``begin``, if there are such hosts.

        The caller makes sure that it has nothing in the cloud.
        """
        holding = lease.holdings[0]
        loose = self._state.put(replace(lease, holdings=()))
        context = self._state.planner.context
        rest = replace(lease.request, duration=holding.run_end - begin)
        try:
            sooner, _ = place_exactly(context, rest, begin, now, may_preempt=False)
        except NotPlannableError:
            self._state.put(lease)
            return
        self.delayed.discard(lease.lease_id)
        self._state.recorder.count("moved_reservations")
        self._state.put(replace(loose, holdings=(sooner,)))

    # -- helpers -----------------------------------------------------------------------------------------

    def _remember_if_later(self, lease: Lease, start: int, wanted: int) -> None:
        """Remember a lease that starts later than wanted because others must leave first: they may leave earlier."""
        if start > wanted:
            self.delayed.add(lease.lease_id)

    def can_clear(self, lease: Lease, start: int, end: int) -> bool:
        """Move leases that have not started off a lease's hosts in an interval, and return whether these are free then.

        Best-effort leases were promised nothing, and go back to the queue: otherwise, leases that start late could
        displace each other forever. For a deadline lease, other deadline leases are postponed if they still meet their
        deadlines. If the hosts are not free then, nothing changes.
        """
        plan = self._state.planner.plan
        hosts = lease.holdings[0].hosts
        try:
            with plan.tentative():
                for other in sorted(plan.future_best_effort(start - 1), key=most_binding, reverse=True):
                    if plan.has_room(lease, start, end):
                        return True
                    if other.lease_id not in self._state.runs.operating and any(
                        r.start < end and not hosts.isdisjoint(r.assignment) for r in other.holdings
                    ):
                        plan.put(back_to_queue(other, "its hosts were not free in time"))
                if lease.kind is LeaseKind.DEADLINE:
                    self._postpone(lease, start, end)
                if not plan.has_room(lease, start, end):
                    raise NotPlannableError("promises are in the way")
        except NotPlannableError:
            return False
        return True

    def _postpone(self, lease: Lease, start: int, end: int) -> None:
        """Postpone deadline leases that are planned on a lease's hosts in an interval to after it, if possible."""
        context = self._state.planner.context
        plan, hosts = context.plan, lease.holdings[0].hosts
        for other in sorted(plan.leases.values(), key=most_binding, reverse=True):
            if plan.has_room(lease, start, end):
                return
            if (
                other.kind is not LeaseKind.DEADLINE
                or other.lease_id in self._state.runs.operating
                or other.lease_id == lease.lease_id
                or other.is_offered
            ):
                continue
            last = other.holdings[-1] if other.holdings else None
            if last is None or not start <= last.start < end or hosts.isdisjoint(last.assignment):
                continue
            with suppress(NotPlannableError), plan.tentative():
                plan_again(context, plan.put(replace(other, holdings=other.holdings[:-1])), end)

    def fits(self, hosts: frozenset[int], start: int, end: int) -> bool:
        """Return whether hosts are not overcommitted in an interval."""
        free = self._state.planner.plan.availability.free(start, end)
        return bool((free[:, sorted(hosts)] >= 0).all())

    def last_chance(self, hosts: frozenset[int], now: int) -> int:
        """Return the latest instant by which all leases with a fixed interval on some hosts can still start.

        Leases whose interval is over do not count. If there are none, the result is far in the future.
        """
        return min(
            (
                lease.holdings[0].run_end - 1
                for lease in self._state.planner.plan.leases.values()
                if lease.kind.promises_interval
                and lease.state in PLANNED_STATES
                and lease.holdings
                and lease.holdings[0].run_end - 1 > now
                and not hosts.isdisjoint(lease.holdings[0].assignment)
            ),
            default=now + UNLIMITED,
        )

    def start_later(self, lease: Lease, instant: int, now: int, reason: str) -> Lease | None:
        """Return a lease with a later start and the same end, or end the lease if no time is left for it.

        :param instant: instant of the next attempt to start it, or its planned start if that is later. If the lease is
            over by then, the attempt is made after half of the time that is left
        :param reason: reason of the end, if it ends
        :return: the lease, which the caller puts into the plan, or None if it has ended
        """
        first = lease.holdings[0]
        if instant >= first.run_end:
            instant = (now + first.run_end) // 2
        if instant <= now:
            self.fail(lease, now, reason)
            return None
        start = max(instant, first.run_start)
        if start > first.run_start:
            self.tell_of_lost_terms(lease)
        return replace(lease, holdings=(replace(first, start=start, run_start=start), *lease.holdings[1:]))

    def tell_of_lost_terms(self, lease: Lease) -> None:
        """Record that a lease that has not started will not start as promised."""
        if lease.started is None and not lease.is_offered:
            self._state.recorder.terms_lost(lease)

    def fail(self, lease: Lease, now: int, reason: str) -> None:
        """End a lease whose promise cannot be kept."""
        live = self._state.lease(lease.lease_id) or lease
        if live.active_since is not None:
            live = self._state.stop_counting(live, now)
            self._state.cloud.discard(lease.lease_id, now)
        elif live.is_prepared:
            self._state.cloud.discard(lease.lease_id, now)
        if live.state is LeaseState.PENDING or live.state is LeaseState.QUEUED:
            live = live.to(LeaseState.SCHEDULED)
        self._state.finish(live, LeaseState.FAILED, now, reason)


def most_binding(lease: Lease) -> tuple[int, int]:
    """Return the sort key of leases by how binding their promises are: kinds with fixed times first, then by age."""
    return lease.kind.precedence, lease.sequence
