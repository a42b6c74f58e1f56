"""The life of a lease as planned: start, suspension, migration, resumption, end (Sotomayor 2010, 3.2.3 and 4.2)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.agenda import Due
from lease_scheduler.engine.deviations import Deviations
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.engine.occupied import OccupiedHosts
from lease_scheduler.engine.offers import Offers
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState

#: What is due when a lease starts to use a holding.
_BEGINNINGS = frozenset({Due.START, Due.MIGRATE, Due.RESUME})


class Lifecycle:
    """Planned life of leases: starts operations when they are due, and continues when the cloud has completed them."""

    def __init__(self, state: EngineState, deviations: Deviations, offers: Offers, occupied: OccupiedHosts) -> None:
        self._state = state
        self._deviations = deviations
        self._offers = offers
        self._occupied = occupied

    # -- what is due -------------------------------------------------------------------------------------

    def act(self, what: Due, lease: Lease, now: int) -> None:
        """Do what is due for a lease."""
        if what is Due.EXPIRE:
            self._offers.expire(lease, now)
            return
        holding = lease.holdings[0]
        if what in _BEGINNINGS and holding.run_end <= now:
            self._deviations.missed(lease, now)
        elif what is Due.CLOSE:
            self._close(lease, now)
        elif what in _BEGINNINGS and self._occupied.keeps_out(lease, now):
            return
        elif what is Due.START:
            ready = lease if lease.state is LeaseState.READY else self._state.put(lease.to(LeaseState.READY))
            self._state.begin(OperationKind.START, ready, now, now)
        elif what is Due.RESUME:
            self._state.recorder.count("resumptions")
            resuming = self._state.put(lease.to(LeaseState.RESUMING))
            self._state.begin(OperationKind.RESUME, resuming, now + holding.run_start - holding.start, now)
        elif what is Due.MIGRATE:
            self._state.recorder.count("migrations", len(holding.migrations[0].moves))
            moving = self._state.put(lease.to(LeaseState.MIGRATING))
            this_round = holding.migrations[0]
            self._state.begin(OperationKind.MIGRATE, moving, now + this_round.end - this_round.start, now, this_round)
        elif what is Due.ACTIVATE:
            self._activate(lease, now)
        else:
            self._deviations.overdue(lease, now)

    def _activate(self, lease: Lease, now: int) -> None:
        started = now if lease.started is None else lease.started
        lease = self._state.breaches.begun(lease, now)
        active = self._state.put(replace(lease.to(LeaseState.ACTIVE), active_since=now, started=started, saved_on=None))
        self._state.runs[lease.lease_id].is_counted = True
        if self._state.options.keeps_saved_work and lease.saved_on is not None:
            self._state.runs[lease.lease_id].failed_boots = 0
            self._state.recorder.hosts_whole(active)
        self._occupied.begun(active, now)
        active = self._state.lease(active.lease_id) or active
        if now > active.holdings[0].run_start:
            self._deviations.started_late(active, now)

    def _close(self, lease: Lease, now: int) -> None:
        if lease.kind is LeaseKind.BEST_EFFORT and self._state.planner.run_on(lease, now):
            return
        closed = self._state.stop_counting(lease, now)
        holding = lease.holdings[0]
        # If this happens late, a lease that was to be preempted may have completed its work.
        if holding.closing is Closing.SHUTDOWN or closed.remaining <= 0:
            # The reason of an earlier transition is not the reason of the end.
            closed = self._state.put(replace(closed, reason=""))
            self._state.begin(OperationKind.STOP, closed, holding.end, now)
        elif holding.closing is Closing.SUSPEND:
            self._state.recorder.count("suspensions")
            counted = max(0, closed.accumulated - holding.charged)
            closing = self._state.put(replace(closed.to(LeaseState.SUSPENDING), accumulated=counted))
            self._state.begin(OperationKind.SUSPEND, closing, holding.end, now)
        else:
            self._state.recorder.count("preemptions_with_loss")
            self._state.cloud.discard(lease.lease_id, now)
            closed = self._state.breaches.interrupted(closed, now)
            self._state.put(restarted(closed, "preempted without its state being saved"))

    # -- what the cloud has completed --------------------------------------------------------------------

    def completed(self, operation: Operation, lease: Lease, now: int) -> None:
        """Continue after the cloud has completed an operation."""
        kind = operation.kind
        self._state.completed(operation, lease, now)
        held_until = lease.holdings[0].end if lease.holdings else now
        if kind is OperationKind.START:
            if lease.is_prepared and now < lease.holdings[0].run_start:
                self._state.agenda.push(lease, (lease.holdings[0].run_start, Due.ACTIVATE))
            else:
                self._activate(lease, now)
        elif kind is OperationKind.STOP:
            self._state.finish(lease, LeaseState.DONE, now, lease.reason)
            self._deviations.hosts_came_free(operation.assignment, now, held_until)
        elif kind is OperationKind.RESUME:
            ready = self._state.put(lease.to(LeaseState.RESUMED_READY))
            if now >= ready.holdings[0].run_start:
                self._activate(ready, now)
        elif kind is OperationKind.SUSPEND:
            self._suspended(lease, operation, now)
            self._deviations.hosts_came_free(operation.assignment, now, held_until)
        else:
            self._migrated(lease, operation, now)

    def _suspended(self, lease: Lease, operation: Operation, now: int) -> None:
        self._deviations.retries.suspended(lease)
        self._occupied.left(lease, now)
        rest = lease.holdings[1:]
        waiting = replace(lease.to(LeaseState.SUSPENDED_PENDING), holdings=rest, saved_on=operation.assignment)
        if rest:
            self._state.put(waiting.to(LeaseState.SUSPENDED_SCHEDULED))
        elif self._deviations.retries.is_exhausted(lease):
            failures = self._state.runs[lease.lease_id].failed_boots
            self._deviations.retries.wait(waiting, now, f"its servers could not be resumed {failures} times")
        elif lease.kind is LeaseKind.DEADLINE:
            self._state.put(waiting)
            self._deviations.relocation.plan_rest_or_fail(waiting, now, "suspended")
        else:
            self._state.planner.enqueue(waiting)

    def _migrated(self, lease: Lease, operation: Operation, now: int) -> None:
        assert operation.migration is not None and lease.saved_on is not None
        saved_on = list(lease.saved_on)
        for node, _, destination in operation.migration.moves:
            saved_on[node] = destination
        arrived = replace(lease.to(LeaseState.SUSPENDED_SCHEDULED), saved_on=tuple(saved_on))
        if arrived.holdings:
            first = arrived.holdings[0]
            rounds_left = replace(first, migrations=first.migrations[1:])
            self._state.put(replace(arrived, holdings=(rounds_left, *arrived.holdings[1:])))
            return
        # It lost its place while its memory was moving.
        waiting = self._state.put(arrived.to(LeaseState.SUSPENDED_PENDING))
        if lease.kind is LeaseKind.DEADLINE:
            self._deviations.relocation.plan_rest_or_fail(waiting, now, "migrated")
        else:
            self._state.planner.enqueue(waiting)


def restarted(lease: Lease, reason: str) -> Lease:
    """Return a lease whose work is lost, ready for its next holding or back in the queue."""
    rest = lease.holdings[1:]
    state = LeaseState.READY if rest else LeaseState.QUEUED
    return replace(lease.to(state, reason=reason), holdings=rest, accumulated=0, active_since=None, saved_on=None)
