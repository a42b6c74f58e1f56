"""Deviations in time: operations that take longer or end earlier than planned (haizea F95).

The plan is corrected to what is really on the hosts, and leases that are in the way are moved or delayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lease_scheduler.engine.failures import Failures
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.engine.late_hosts import LEAVING
from lease_scheduler.engine.relocation import Expected, Relocation
from lease_scheduler.engine.retries import Retries
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.durations import in_words
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.fitting.phases import cut_by_suspension
from lease_scheduler.plan.options import RoomLead

#: Minimum and maximum seconds that a late operation gets before it is checked again.
_SHORTEST_EXTENSION, _LONGEST_EXTENSION = 10, 60

#: Seconds beyond the buffer for which a late suspension is a sign that others will be late as well. One that takes
#: longer may never end.
_PATIENCE = 60


class Deviations:
    """Replanning of leases when operations are late or early.

    :ivar retries: leases that wait for another attempt
    :ivar relocation: finds other places for leases
    :ivar failures: handles failed operations
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self.retries = Retries(state)
        self.relocation = Relocation(state, self.retries)
        self.failures = Failures(state, self.relocation, self.retries)

    def overdue(self, lease: Lease, now: int) -> None:
        """Handle an operation that is not over at the end of its lease's holding.

        A suspension or shutdown keeps its hosts for up to a minute more, even if other leases are planned there next. A
        start, resumption or migration gets more time only if this breaks no promise to others. Otherwise the lease
        fails, is moved, or starts over.
        """
        operation = self._state.runs[lease.lease_id].operation
        assert operation is not None
        if lease.lease_id in self._state.runs.stuck:
            # Its hosts are occupied, so no other lease is planned there.
            return
        self._state.recorder.count("late_operations")
        extension = max(_SHORTEST_EXTENSION, now - operation.begun)
        if operation.kind in LEAVING:
            # With a longer extension, leases that follow there would fail at once, perhaps needlessly.
            extension = min(extension, _LONGEST_EXTENSION)
        first = lease.holdings[0]
        extended = replace(first, end=now + extension)
        if operation.kind not in LEAVING:
            if lease.kind.promises_interval:
                self._state.cloud.discard(lease.lease_id, now)
                self.relocation.fail(lease, now, "its VMs were not ready before it was over")
            elif not lease.holdings[1:] and self.relocation.can_clear(lease, now, extended.end):
                self._state.put(replace(lease, holdings=(extended,)))
            elif operation.kind is OperationKind.MIGRATE and self._state.options.keeps_saved_work:
                self.relocation.move(lease, now, "its memory was not there in time")
            elif operation.kind is OperationKind.RESUME and self._state.options.keeps_saved_work:
                self._state.runs.end(lease.lease_id)
                self._state.account(operation, lease, now)
                self.failures.put_away(lease, now, "its VMs were not resumed before its place was over")
            else:
                self._state.cloud.discard(lease.lease_id, now)
                self.relocation.replace_lost(lease, now, "its VMs were not ready before its place was over")
            return
        expected = Expected(extended.end, self._expected_lateness(operation, now, extended.end))
        # The operation may be over sooner, so no reservation that waits for it fails before its own end.
        extended = replace(extended, end=min(extended.end, self.relocation.last_chance(first.hosts, now)))
        later = tuple(r for r in lease.holdings[1:] if r.start >= extended.end)
        self._state.put(replace(lease, holdings=(extended, *later)))
        self.relocation.make_way(first.hosts, now, extended.end, keep=lease.lease_id, expected=expected)

    def _expected_lateness(self, operation: Operation, now: int, end: int) -> int:
        """Return the seconds by which suspensions that begin now are expected to take longer than planned.

        If one suspension is late, others are likely to be as late. So a reservation that waits for it gains nothing if
        further leases are suspended: this would only disturb more work.

        :param operation: the late operation
        :param end: its expected end
        """
        options = self._state.planner.context.options
        if operation.kind is not OperationKind.SUSPEND or options.room_lead is not RoomLead.STRICT:
            return 0
        return end - operation.due if now < operation.due + options.suspend_buffer + _PATIENCE else 0

    def started_late(self, lease: Lease, now: int) -> None:
        """Handle a run that started later than planned.

        Reservations and immediate leases keep their end. Other leases get the missing time after their end if their
        hosts are free then. If not, they are suspended in time and run the rest later, or start over if they cannot be
        suspended.
        """
        self._state.recorder.count("late_starts")
        holding = lease.holdings[0]
        late = now - holding.run_start
        begun = replace(holding, run_start=now)
        if lease.kind.promises_interval:
            if holding.run_end <= now:
                self.relocation.fail(lease, now, f"its VMs were ready {in_words(late)} late, when it was over")
                return
            self._state.put(replace(lease, holdings=(begun, *lease.holdings[1:])))
            return
        over = now + lease.remaining
        too_late = holding.run_end <= now
        if (holding.closing is Closing.SHUTDOWN or too_late) and not lease.holdings[1:]:
            if lease.request.deadline is not None and over > lease.request.deadline:
                if self.retries.keeps_work_of(lease):
                    self.failures.put_away(lease, now, f"resumed {in_words(late)} late, too late for its deadline")
                    return
                self.relocation.fail(lease, now, f"started {in_words(late)} late, too late for its deadline")
                return
            shutdown = self._state.planner.context.suspension.shutdown_time(lease.request)
            longer = replace(begun, run_end=over, end=over + shutdown, closing=Closing.SHUTDOWN)
            if self.relocation.can_clear(lease, holding.end, longer.end):
                self._state.put(replace(lease, holdings=(longer,)))
                return
        if holding.closing is Closing.SHUTDOWN:
            begun = self._closed_in_time(lease, begun, over)
        newly_killed = begun.closing is Closing.KILL and holding.closing is not Closing.KILL
        if begun.run_end <= now and self.retries.keeps_work_of(lease):
            self.failures.put_away(lease, now, f"resumed {in_words(late)} late, too late for its place")
        elif begun.run_end <= now or (newly_killed and lease.kind is LeaseKind.DEADLINE):
            self._state.cloud.discard(lease.lease_id, now)
            self.relocation.replace_lost(lease, now, f"started {in_words(late)} late, too late for its place")
        elif lease.kind is LeaseKind.DEADLINE and begun.closing is Closing.SUSPEND:
            kept = self._state.put(replace(lease, holdings=(begun,)))
            self.relocation.plan_rest_or_fail(kept, now, f"started {in_words(late)} late")
        else:
            self._state.put(replace(lease, holdings=(begun, *lease.holdings[1:])))

    def _closed_in_time(self, lease: Lease, begun: Holding, over: int) -> Holding:
        """Return the holding of a run that must leave its hosts at the planned end, before its work is done.

        If the work is done before it would have to be suspended or killed, a shorter shutdown is accepted.

        :param over: instant at which the work would be done
        """
        context = self._state.planner.context
        if context.suspension.can_suspend(lease.request):
            cut = cut_by_suspension(context, lease.request, begun, begun.end)
        else:
            cut = replace(begun, run_end=begun.end, closing=Closing.KILL)
        return replace(begun, run_end=over) if over <= cut.run_end else cut

    def hosts_came_free(self, assignment: Iterable[int], now: int, held_until: int) -> None:
        """Let waiting leases use hosts that have become free, possibly earlier than planned.

        :param held_until: planned end of the holding that has ended
        """
        hosts = frozenset(assignment)
        self._start_delayed(hosts, now)
        if held_until > now:
            moved = self._state.use_freed(len(hosts), now, held_until)
            self._state.recorder.count("replans", moved)

    def _start_delayed(self, hosts: frozenset[int], now: int) -> None:
        """Start delayed reservations on these hosts, if no other lease is in the way."""
        plan = self._state.planner.plan
        for lease_id in sorted(self.relocation.delayed):
            lease = self._state.lease(lease_id)
            if lease is None or not self._state.is_ready(lease) or lease.holdings[0].start <= now:
                self.relocation.delayed.discard(lease_id)
                continue
            holding = lease.holdings[0]
            asked = lease.request.submitted if lease.request.start is None else lease.request.start
            # Hosts may become free before the requested start.
            begin = max(now, asked)
            if not hosts.isdisjoint(holding.assignment) and plan.has_room(lease, begin, holding.start):
                self.relocation.delayed.discard(lease_id)
                self._state.put(replace(lease, holdings=(replace(holding, start=begin, run_start=begin),)))
            elif lease_id not in self._state.runs.operating and not lease.is_prepared:
                # Hosts elsewhere may be free sooner than those for which it waits.
                self.relocation.start_sooner(lease, begin, now)

    def missed(self, lease: Lease, now: int) -> None:
        """Handle a lease that did not start before its holding ended, because the engine was down."""
        if lease.kind.promises_interval:
            self.relocation.fail(lease, now, "its time was over before it could start")
        else:
            self.relocation.move(lease, now, "its place was over before it could start")

    def remember_delayed(self, lease: Lease, now: int) -> None:
        """Note a restored reservation as delayed, if its planned start is later than the one in its terms."""
        asked = lease.request.submitted if lease.request.start is None else lease.request.start
        fixed = lease.kind.promises_interval
        if fixed and self._state.is_ready(lease) and lease.holdings[0].start > max(asked, now):
            self.relocation.delayed.add(lease.lease_id)
