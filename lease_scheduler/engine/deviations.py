"""When the world does not do what was planned: late operations, failed boots, dead hosts (haizea F95).

The plan is brought back in line with what really holds the hosts, and whoever is in the way is moved, delayed or, if
nothing else is left, ended with a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.retries import Retries
from lease_scheduler.engine.state import LEAVING, EngineState
from lease_scheduler.model.lease import Lease, LeaseKind
from lease_scheduler.model.reservation import Closing, Reservation
from lease_scheduler.model.states import PLANNED_STATES, LeaseState
from lease_scheduler.plan.displacing import make_room
from lease_scheduler.plan.exact import place_until
from lease_scheduler.plan.keeping import Present
from lease_scheduler.plan.phases import cut_by_suspension
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preemption import back_to_queue
from lease_scheduler.plan.rest import plan_again

#: A late operation is given this much more time at least and at most before the hosts are looked at again, in seconds.
_SHORTEST_EXTENSION, _LONGEST_EXTENSION = 10, 60

#: Leases that hold hosts in the plan only.
_MOVABLE_STATES = PLANNED_STATES | {LeaseState.MIGRATING}


class Deviations:
    """Plans again what reality has upset."""

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._delayed: set[str] = set()
        self.retries = Retries(state)

    # -- operations that take longer than planned --------------------------------------------------------

    def overdue(self, lease: Lease, now: int) -> None:
        """An operation is not over though its hosts should be given up now.

        The hosts of a suspension or shutdown stay held for as long again, whoever was to follow there. A start,
        resumption or migration gets more time only where no promise is in the way; else it begins anew.
        """
        operation = self._state.operations[lease.lease_id]
        self._state.recorder.count("late_operations")
        extension = max(_SHORTEST_EXTENSION, now - operation.begun)
        if operation.kind in LEAVING:
            # Who follows there would be given up for lost if it were thought to take too long.
            extension = min(extension, _LONGEST_EXTENSION)
        first = lease.reservations[0]
        extended = replace(first, end=now + extension)
        if operation.kind not in LEAVING:
            if lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE):
                self._state.cloud.discard(lease.lease_id, now)
                self.fail(lease, now, "its VMs were not ready before it was over")
            elif not lease.reservations[1:] and self._can_clear(lease, now, extended.end):
                self._state.put(replace(lease, reservations=(extended,)))
            elif operation.kind is OperationKind.RESUME and self._state.options.keeps_saved_work:
                self._state.account(self._state.operations.pop(lease.lease_id), lease, now)
                self._put_away(lease, now, "its VMs were not back when its place was over")
            else:
                self._state.cloud.discard(lease.lease_id, now)
                self.replace_lost(lease, now, "its VMs were not ready when its place was over")
            return
        later = tuple(r for r in lease.reservations[1:] if r.start >= extended.end)
        self._state.put(replace(lease, reservations=(extended, *later)))
        self._make_way(frozenset(first.assignment), now, extended.end, keep=lease.lease_id)

    def started_late(self, lease: Lease, now: int) -> None:
        """A run began later than planned.

        Reservations and immediate leases keep their end; others get the missing time behind it if their hosts are
        free then. If not, they are suspended in time and run the rest later, or start over if they cannot be.
        """
        self._state.recorder.count("late_starts")
        reservation = lease.reservations[0]
        late = now - reservation.run_start
        begun = replace(reservation, run_start=now)
        if lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE):
            if reservation.run_end <= now:
                self.fail(lease, now, f"its VMs were ready {late} s late, when it was over")
                return
            self._state.put(replace(lease, reservations=(begun, *lease.reservations[1:])))
            return
        over = now + lease.remaining
        too_late = reservation.run_end <= now
        if (reservation.closing is Closing.SHUTDOWN or too_late) and not lease.reservations[1:]:
            if lease.request.deadline is not None and over > lease.request.deadline:
                if self._keeps_work_of(lease):
                    self._put_away(lease, now, f"resumed {late} s late, too late for its deadline")
                    return
                self.fail(lease, now, f"started {late} s late, too late for its deadline")
                return
            shutdown = self._state.planner.context.suspension.shutdown_time(lease.request)
            longer = replace(begun, run_end=over, end=over + shutdown, closing=Closing.SHUTDOWN)
            if self._can_clear(lease, reservation.end, longer.end):
                self._state.put(replace(lease, reservations=(longer,)))
                return
        if reservation.closing is Closing.SHUTDOWN:
            begun = self._closed_in_time(lease, begun, over)
        newly_killed = begun.closing is Closing.KILL and reservation.closing is not Closing.KILL
        if begun.run_end <= now and self._keeps_work_of(lease):
            self._put_away(lease, now, f"resumed {late} s late, too late for its place")
        elif begun.run_end <= now or (newly_killed and lease.kind is LeaseKind.DEADLINE):
            self._state.cloud.discard(lease.lease_id, now)
            self.replace_lost(lease, now, f"started {late} s late, too late for its place")
        elif lease.kind is LeaseKind.DEADLINE and begun.closing is Closing.SUSPEND:
            kept = self._state.put(replace(lease, reservations=(begun,)))
            self.plan_rest_or_fail(kept, now, f"started {late} s late")
        else:
            self._state.put(replace(lease, reservations=(begun, *lease.reservations[1:])))

    def _closed_in_time(self, lease: Lease, begun: Reservation, over: int) -> Reservation:
        """A run that has to give up its hosts at its planned end though its work lasts until ``over``.

        What is left of the time for the shutdown will do if the work is over by then.
        """
        context = self._state.planner.context
        if context.suspension.can_suspend(lease.request):
            cut = cut_by_suspension(context, lease.request, begun, begun.end)
        else:
            cut = replace(begun, run_end=begun.end, closing=Closing.KILL)
        return replace(begun, run_end=over) if over <= cut.run_end else cut

    def hosts_came_free(self, assignment: Iterable[int], now: int, held_until: int) -> None:
        """Hosts are free, perhaps before the plan thought so; whoever waits for them may start at once."""
        hosts = frozenset(assignment)
        self._start_delayed(hosts, now)
        if held_until > now:
            moved = self._state.use_freed(len(hosts), now, held_until)
            self._state.recorder.count("replans", moved)

    def _start_delayed(self, hosts: frozenset[int], now: int) -> None:
        """Reservations that were delayed because of these hosts begin, if nobody else is in the way."""
        plan = self._state.planner.plan
        for lease_id in sorted(self._delayed):
            lease = self._state.lease(lease_id)
            if lease is None or not self._state.is_ready(lease) or lease.reservations[0].start <= now:
                self._delayed.discard(lease_id)
                continue
            reservation = lease.reservations[0]
            asked = lease.request.submitted if lease.request.start is None else lease.request.start
            # Hosts may come free before the start that was asked for.
            begin = max(now, asked)
            if hosts.isdisjoint(reservation.assignment) or not plan.has_room(lease, begin, reservation.start):
                continue
            self._delayed.discard(lease_id)
            self._state.put(replace(lease, reservations=(replace(reservation, start=begin, run_start=begin),)))

    def missed(self, lease: Lease, now: int) -> None:
        """Nothing of a place was used, and it is over: nobody was there to begin."""
        if lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE):
            self.fail(lease, now, "its time was over before it could begin")
        else:
            self.move(lease, now, "its place was over before it could begin")

    def remember_delayed(self, lease: Lease, now: int) -> None:
        """Recognise a reservation that was delayed, as its terms show, because its hosts came free too late for it."""
        asked = lease.request.submitted if lease.request.start is None else lease.request.start
        fixed = lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE)
        if fixed and self._state.is_ready(lease) and lease.reservations[0].start > max(asked, now):
            self._delayed.add(lease.lease_id)

    # -- failed boots ------------------------------------------------------------------------------------

    def operation_failed(self, lease: Lease, kind: OperationKind, now: int, host: int | None, reason: str) -> None:
        """The cloud could not do something for a lease: it is tried elsewhere, or from the beginning."""
        if kind is OperationKind.STOP:
            # Nothing can be in the way of an end: what is left of the VMs is destroyed.
            self._state.cloud.discard(lease.lease_id, now)
            self._state.finish(lease, LeaseState.DONE, now, f"its VMs had to be destroyed: {reason}")
            return
        self._state.recorder.count("failed_boots" if kind is OperationKind.START else "failed_operations")
        self._state.failed_boots[lease.lease_id] += 1
        is_last = self._state.failed_boots[lease.lease_id] >= self._state.options.boot_attempts
        if kind is OperationKind.RESUME and (not is_last or self._state.options.keeps_saved_work):
            self._put_away(lease, now, reason)
            return
        if kind is OperationKind.SUSPEND and self._state.options.keeps_saved_work and lease.saved_on is not None:
            # It could not be brought back before; what is saved of it must not be lost to the rest.
            again = self.retries.suspend_later(lease, now)
            self._hold_until(lease, now, again + _LONGEST_EXTENSION)
            return
        self._state.cloud.discard(lease.lease_id, now)
        if is_last:
            self.fail(lease, now, f"{kind.value} failed {self._state.options.boot_attempts} times, last: {reason}")
            return
        plan = self._state.planner.plan
        avoid = host is not None and host not in plan.outages
        if avoid and host is not None:
            plan.block(host, now, now + 1)
        try:
            self.replace_lost(lease, now, reason)
        finally:
            if avoid and host is not None:
                plan.unblock(host)

    def _keeps_work_of(self, lease: Lease) -> bool:
        """Whether a lease that runs has done work before that can be saved again, and must not be lost."""
        has_worked = lease.accumulated > 0 and lease.active_since is not None
        can_suspend = self._state.planner.context.suspension.can_suspend(lease.request)
        return self._state.options.keeps_saved_work and has_worked and can_suspend

    def _hold_until(self, lease: Lease, now: int, end: int) -> None:
        """Have a lease that cannot leave its hosts yet keep them, whoever was to follow there."""
        first = lease.reservations[0]
        self._state.put(replace(lease, reservations=(replace(first, end=max(first.end, end)),)))
        self._make_way(frozenset(first.assignment), now, end, keep=lease.lease_id)

    def place_anew(self, lease: Lease, away: Collection[int], now: int) -> Lease | None:
        """Find hosts for the interval of a reservation that has not begun.

        Nothing of it is left in the cloud.

        :param away: indices of the VMs that must leave their hosts; the others keep theirs if they can
        :return: its new value, or None if there are no such hosts; the plan is as it was then
        """
        first = lease.reservations[0]
        start = max(now, first.run_start)
        present = Present.of(lease.request, [None if vm in away else host for vm, host in enumerate(first.assignment)])
        self._state.put(replace(lease, reservations=()))
        try:
            return self._place_at(lease, start, first.run_end, now, present)
        except NotPlannableError:
            self._state.put(lease)
            return None

    def refused_hosts(self, lease: Lease, kind: OperationKind, now: int, reason: str) -> None:
        """The cloud could not have hosts vacated for a lease that waits for a better place, or for other hosts.

        That is not the lease's fault, so it is tried as often as it takes.
        """
        if kind is OperationKind.RESUME:
            self._put_away(lease, now, reason)
            return
        self._state.cloud.discard(lease.lease_id, now)
        self.replace_lost(lease, now, reason)

    def _put_away(self, lease: Lease, now: int, reason: str) -> None:
        """What could not be brought back is suspended again; nothing of the work is lost."""
        if lease.active_since is not None:
            lease = self._state.stop_counting(lease, now)
        first = lease.reservations[0]
        end = now + self._state.planner.context.suspension.suspend_time(lease.request, first.assignment)
        closing = replace(first, run_start=now, run_end=now, end=end, closing=Closing.SUSPEND)
        # What was planned behind it counts on the run that did not come about.
        suspending = lease.to(LeaseState.SUSPENDING, reason=reason, reservations=(closing,))
        self._state.put(suspending)
        self._state.begin(OperationKind.SUSPEND, suspending, end, now)
        self._make_way(closing.hosts, now, end, keep=lease.lease_id)

    # -- moving leases -----------------------------------------------------------------------------------

    def plan_rest_or_fail(self, lease: Lease, now: int, why: str) -> None:
        """Plan what is left of a deadline lease; it fails if that cannot be done by its deadline."""
        try:
            self._state.planner.place_rest(lease, now, earliest=self._state.earliest(now))
        except NotPlannableError:
            if self._state.options.keeps_saved_work and lease.state is LeaseState.SUSPENDED_PENDING:
                self.retries.wait(lease, now, why)
                return
            if self._keeps_work_of(lease) and lease.reservations[0].closing is Closing.SUSPEND:
                # It is suspended in time, and waits then.
                return
            self.tell_of_lost_terms(lease)
            self.fail(lease, now, f"{why}, and what is left cannot be done by its deadline")

    def replace_lost(self, lease: Lease, now: int, why: str) -> None:
        """A lease lost its VMs or their saved state: the promise is kept on other hosts, or the work starts over."""
        state = self._state
        operation = state.operations.pop(lease.lease_id, None)
        if operation is not None:
            state.account(operation, lease, now)
        if lease.active_since is not None:
            lease = state.stop_counting(lease, now)
            is_over = lease.reservations[0].run_end <= now and lease.reservations[0].closing is Closing.SHUTDOWN
            # What promises work rather than an interval, and began late, has not done it when the interval is over.
            if lease.remaining <= 0 or (is_over and lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE)):
                state.finish(lease, LeaseState.DONE, now, f"{why} when its run was over")
                return
        elif operation is not None and operation.kind is OperationKind.STOP:
            state.finish(lease, LeaseState.DONE, now, f"{why} during its shutdown")
            return
        if lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE):
            self._go_on_elsewhere(lease, now, why)
            return
        lost = lease
        if lease.state is not LeaseState.READY:
            lost = lease.to(LeaseState.QUEUED, reason=f"{why}; it starts over")
        elif lease.kind is LeaseKind.BEST_EFFORT:
            lost = lease.to(LeaseState.QUEUED, reason=f"{why}; it starts elsewhere")
        lost = state.put(replace(lost, reservations=(), accumulated=0, active_since=None, saved_on=None))
        if lease.kind is LeaseKind.DEADLINE:
            if lost.state is LeaseState.READY:
                lost = state.put(lost.to(LeaseState.PENDING, reason=why))
            self.plan_rest_or_fail(lost, now, why)

    def _go_on_elsewhere(self, lease: Lease, now: int, why: str) -> None:
        """The rest of a reservation's interval on other hosts, from now on."""
        state = self._state
        first = lease.reservations[0]
        # What was lost may have been booted ahead.
        start = max(now, first.run_start) if lease.is_prepared else now
        loose = replace(lease, reservations=())
        if lease.state is LeaseState.ACTIVE:
            loose = state.breaches.without(loose.to(LeaseState.READY, reason=why), lease.request.charged_nodes, now)
        state.put(loose)
        self._place_interval(loose, start, first.run_end, now, why)

    def _place_interval(self, lease: Lease, start: int, end: int, now: int, why: str) -> bool:
        """Hosts for a reservation in ``[start, end)``, preempting who may be; it fails if there are none."""
        try:
            self._place_at(lease, start, end, now)
        except NotPlannableError:
            self.tell_of_lost_terms(lease)
            self.fail(lease, now, f"{why}, and no other hosts are free")
            return False
        return True

    def _place_at(self, lease: Lease, start: int, end: int, now: int, present: Present | None = None) -> Lease:
        """Give a lease that has no place one that begins at an instant, or as soon after it as others can be suspended.

        :raises NotPlannableError: there is none
        """
        if end <= start:
            raise NotPlannableError("nothing of its interval is left")
        context = self._state.planner.context
        may_preempt = lease.kind is LeaseKind.RESERVATION
        reservation, in_the_way = place_until(
            context, lease.request, start, end, now, may_preempt=may_preempt, present=present
        )
        self._state.recorder.count("moved_reservations")
        make_room(context, in_the_way, reservation.start, reservation.end, now)
        return self._state.put(replace(lease, reservations=(reservation,)))

    def move(self, lease: Lease, now: int, why: str) -> None:
        """Look for another place for a lease that cannot keep the one that is planned for it."""
        state = self._state
        if lease.state is LeaseState.MIGRATING:
            # Its memory is on the way; a place is looked for when it has arrived.
            state.put(replace(lease, reservations=()))
            return
        if lease.kind is LeaseKind.BEST_EFFORT:
            if lease.state in PLANNED_STATES:
                state.put(back_to_queue(lease, why))
            return
        if lease.kind is LeaseKind.DEADLINE:
            if lease.state in PLANNED_STATES:
                waiting = LeaseState.SUSPENDED_PENDING if lease.saved_on is not None else LeaseState.PENDING
                loose = state.put(lease.to(waiting, reason=why, reservations=()))
            else:
                loose = state.put(replace(lease, reservations=lease.reservations[:1]))
            self.plan_rest_or_fail(loose, now, why)
            return
        if lease.state in PLANNED_STATES:
            reservation = lease.reservations[0]
            loose = state.put(replace(lease, reservations=()))
            self._place_interval(loose, max(now, reservation.run_start), reservation.run_end, now, why)

    def _make_way(self, hosts: frozenset[int], start: int, end: int, keep: str) -> None:
        """Move or delay who was to start on hosts that are held for longer than planned."""
        plan = self._state.planner.plan
        if self._fits(hosts, start, end):
            return
        for lease in sorted(plan.leases.values(), key=most_binding, reverse=True):
            in_the_way = [r for r in lease.reservations if not hosts.isdisjoint(r.assignment) and r.start < end]
            if lease.lease_id == keep or not in_the_way:
                continue
            is_busy = lease.lease_id in self._state.operations and lease.state is not LeaseState.MIGRATING
            if is_busy or lease.state not in _MOVABLE_STATES:
                if in_the_way[-1] is not lease.reservations[0]:
                    self._move_rest(lease, start)
            elif lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE):
                self._move_or_delay(lease, start, end)
            else:
                self.move(lease, start, "its hosts were not free in time")
            if self._fits(hosts, start, end):
                return

    def _move_rest(self, lease: Lease, now: int) -> None:
        """Look for another place for what a deadline lease is to do after its present place.

        If there is none by its deadline and its memory is saved at the end of the present place, another one is looked
        for then, as some hosts may come free earlier than planned.
        """
        kept = self._state.put(replace(lease, reservations=lease.reservations[:1]))
        if kept.reservations[0].closing is not Closing.SUSPEND:
            self.plan_rest_or_fail(kept, now, "its hosts were not free in time")
            return
        with suppress(NotPlannableError):
            self._state.planner.place_rest(kept, now, earliest=self._state.earliest(now))

    def _move_or_delay(self, lease: Lease, now: int, free_at: int) -> None:
        reservation = lease.reservations[0]
        context = self._state.planner.context
        begin = max(now, reservation.run_start)
        loose = self._state.put(replace(lease, reservations=()))
        try:
            if reservation.run_end <= begin:
                raise NotPlannableError("nothing of its interval is left")
            moved, in_the_way = place_until(
                context,
                lease.request,
                begin,
                reservation.run_end,
                now,
                may_preempt=lease.kind is LeaseKind.RESERVATION,
            )
        except NotPlannableError:
            self.tell_of_lost_terms(loose)
            if reservation.run_end <= free_at:
                self.fail(loose, now, "its hosts were not free before it was over")
                return
            delayed = replace(reservation, start=free_at, run_start=free_at)
            self._delayed.add(lease.lease_id)
            self._state.put(replace(loose, reservations=(delayed,)))
            return
        make_room(context, in_the_way, moved.start, moved.end, now)
        self._state.recorder.count("moved_reservations")
        self._state.put(replace(loose, reservations=(moved,)))

    # -- helpers -----------------------------------------------------------------------------------------

    def _can_clear(self, lease: Lease, start: int, end: int) -> bool:
        """Whether the lease's hosts are free in an interval after those that only wait there gave it up.

        Best-effort leases were promised nothing; without this, leases that start late would end each other for ever.
        Deadline leases give way to each other if they can keep their deadlines all the same.
        """
        plan = self._state.planner.plan
        hosts = lease.reservations[0].hosts
        try:
            with plan.tentative():
                for other in sorted(plan.future_best_effort(start - 1), key=most_binding, reverse=True):
                    if plan.has_room(lease, start, end):
                        return True
                    if other.lease_id not in self._state.operations and any(
                        r.start < end and not hosts.isdisjoint(r.assignment) for r in other.reservations
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
        """Have deadline leases that are planned on a lease's hosts in an interval begin after it, if they can."""
        context = self._state.planner.context
        plan, hosts = context.plan, lease.reservations[0].hosts
        for other in sorted(plan.leases.values(), key=most_binding, reverse=True):
            if plan.has_room(lease, start, end):
                return
            if (
                other.kind is not LeaseKind.DEADLINE
                or other.lease_id in self._state.operations
                or other.lease_id == lease.lease_id
                or other.is_offered
            ):
                continue
            last = other.reservations[-1] if other.reservations else None
            if last is None or not start <= last.start < end or hosts.isdisjoint(last.assignment):
                continue
            with suppress(NotPlannableError), plan.tentative():
                plan_again(context, plan.put(replace(other, reservations=other.reservations[:-1])), end)

    def _fits(self, hosts: frozenset[int], start: int, end: int) -> bool:
        free = self._state.planner.plan.availability.free(start, end)
        return bool((free[:, sorted(hosts)] >= 0).all())

    def tell_of_lost_terms(self, lease: Lease) -> None:
        """Have it known that a lease that has not begun will not begin as promised."""
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
    """Order in which leases are looked after: promises with fixed times first."""
    order = {LeaseKind.RESERVATION: 0, LeaseKind.IMMEDIATE: 1, LeaseKind.DEADLINE: 2, LeaseKind.BEST_EFFORT: 3}
    return order[lease.kind], lease.sequence
