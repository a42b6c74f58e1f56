"""Steps of the engine: what they do, in which order (Sotomayor 2010, section 4.2; haizea F18, F39)."""

from __future__ import annotations

from functools import partial

from lease_scheduler.engine.admission import Admission
from lease_scheduler.engine.fractional_places import Agree
from lease_scheduler.engine.interfaces import CloudEvent, EventKind, OperationKind
from lease_scheduler.engine.parts import Parts
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState


class EngineSteps:
    """Steps of the engine, each of which does what is due at an instant.

    :param state: state that the parts of the engine share
    :param parts: the parts of the engine
    :param admission: decides new requests
    """

    def __init__(self, state: EngineState, parts: Parts, admission: Admission) -> None:
        self._state = state
        self._parts = parts
        self._admission = admission

    def step(self, now: int) -> None:
        """Do everything that is due.

        The order is that of Haizea's main loop, because results depend on it: reports of the cloud, ends, starts, new
        requests, the queue, and then leases that were planned to start at once.
        """
        self._state.planner.plan.pass_to(now)
        if self._state.runs.fluid:
            self._parts.places.set_apart()
        # Sites without sleeping hosts must not pay for them.
        may_sleep = self._state.powers or self._state.policies.power.manages
        if may_sleep:
            # First, because reports of ends free capacity, on which other leases are planned at once.
            self._parts.powers.keep_taken(now)
        self._take_reports(now)
        self._parts.images.begin_due(now)
        if self._state.planner.plan.outages:
            # Hosts that recover at this instant have already been reported.
            self._parts.outages.extend(now)
            self._parts.occupied.look_again(now)
            self._state.publish(now)
        if may_sleep:
            self._parts.powers.follow(now)
        self._parts.deviations.retries.go_on(now)
        self._act(now)
        self._admission.admit(now)
        if may_sleep:
            self._parts.power_decisions.serve_waiting(now)
        self.serve_queue(now)
        # Sites without fluid leases must not pay for them.
        has_fluid = self._state.runs.fluid or self._parts.places.known
        if has_fluid and self._parts.places.decide(now, self._agreement(now)):
            self._act(now)
        if self._parts.live_moves.move(now):
            self._state.publish(now)
        if may_sleep:
            self._parts.power_decisions.serve_apart(now)
            self._parts.power_decisions.let_sleep(now)
        self._parts.fluid.follow(now)
        if has_fluid:
            self._parts.places.look(now)
        self._state.planner.plan.forget(now)

    def next_due(self) -> int | None:
        """Return the next planned instant, or None."""
        agenda, parts = self._state.agenda, self._parts
        instants = [
            parts.preparation.next_due(),
            parts.images.next_due(),
            parts.deviations.retries.next_due(),
            min(self._state.occupied.values(), default=None),
            self._state.planner.look_again,
            parts.live_moves.next_due(),
            parts.places.next_due() if self._state.runs.fluid or parts.places.known else None,
        ]
        if self._state.powers or self._state.policies.power.manages:
            instants += [self._parts.powers.next_due(), self._parts.power_decisions.next_due()]
        ahead = min((instant for instant in instants if instant is not None), default=None)
        while (entry := agenda.first()) is not None:
            instant, what, lease_id = entry
            if self._is_due(instant, what, lease_id) is not None:
                return instant if ahead is None else min(instant, ahead)
            agenda.drop_first()
        return ahead

    def serve_queue(self, now: int) -> None:
        """Place queued leases, and start those that can start at once.

        If a start fails at once, the lease goes back to the queue or ends, and its hosts are free again. So the queue
        is processed until nothing changes: perhaps no other event would cause it to be processed again.
        """
        self._parts.evasion.evade(now)
        self._parts.preparation.prepare(now)
        plan = self._state.planner.plan
        agree = self._agreement(now)
        while True:
            earliest = self._state.earliest(now)
            if self._state.powers and plan.queue:
                with self._state.only_awake(now):
                    self._state.planner.process_queue(earliest, agree)
            else:
                self._state.planner.process_queue(earliest, agree)
            self._state.publish(now)
            self._parts.images.begin_due(now)
            waiting, live = len(plan.queue), len(plan.leases)
            self._act(now)
            if not plan.queue or (len(plan.queue) <= waiting and len(plan.leases) == live):
                break
        self._parts.evasion.evade(now)

    def _agreement(self, now: int) -> Agree | None:
        """Return the function that is called before a lease gets a place out of the queue; None if none is needed."""
        is_asked = self._parts.prices.are_asked or self._parts.assurances.are_made
        return partial(self._agree_in_queue, now=now) if is_asked else None

    def _agree_in_queue(self, placed: Lease, now: int) -> Lease | None:
        """Return a lease that gets a place out of the queue, with its promise and its price; None if it gets none."""
        promised = self._parts.assurances.agree_in_queue(placed, now)
        if promised is None or not self._parts.prices.are_asked:
            return promised
        return self._parts.prices.agree_in_queue(promised, now)

    def _is_due(self, instant: int, what: int, lease_id: str) -> Lease | None:
        lease = self._state.lease(lease_id)
        if lease is None:
            return None
        due = self._state.next_due(lease)
        return lease if due == (instant, what) else None

    def _act(self, now: int) -> None:
        """Handle reports of the cloud and what is due, until there is neither."""
        state = self._state
        while True:
            self._take_reports(now)
            entry = state.agenda.pop(now)
            if entry is None:
                return
            instant, what, lease_id = entry
            lease = self._is_due(instant, what, lease_id)
            if lease is not None:
                self._parts.lifecycle.act(what, lease, now)
                state.publish(now)

    def _take_reports(self, now: int) -> None:
        for event in self._state.cloud.take_events(now):
            self._handle(event, now)
            self._state.publish(now)

    def _handle(self, event: CloudEvent, now: int) -> None:
        if event.kind is EventKind.HOST_DOWN and event.host is not None:
            self._parts.outages.host_down(event.host, now)
            self._parts.images.host_lost(event.host, now)
            return
        if event.kind is EventKind.HOST_CLOSED and event.host is not None:
            self._parts.outages.host_closed(event.host, now)
            return
        if event.kind is EventKind.HOST_UP and event.host is not None:
            self._parts.outages.host_up(event.host, now)
            return
        if event.kind is EventKind.HOST_ASLEEP and event.host is not None:
            self._parts.powers.is_asleep(event.host, now)
            return
        if event.kind is EventKind.HOST_AWAKE and event.host is not None:
            self._parts.powers.is_awake(event.host, now, event.reason)
            return
        if event.transfer is not None:
            self._parts.images.handle(event, now)
            return
        lease = self._state.lease(event.lease_id)
        if lease is None:
            return
        if event.kind is EventKind.ENDED:
            self._ended_early(lease, now)
            return
        if event.kind is EventKind.LOST:
            if lease.state in SUSPENDED_STATES:
                self._state.cloud.discard(lease.lease_id, now)
                self._parts.deviations.relocation.replace_lost(lease, now, event.reason)
            return
        if event.kind is EventKind.ADJUSTED:
            self._parts.occupied.followed(lease, now)
            return
        operation = self._state.runs.end(lease.lease_id)
        if event.occupied:
            if operation is not None:
                self._state.account(operation, lease, now)
            self._parts.occupied.refused(lease, operation, event.occupied, now)
            return
        if operation is None:
            return
        self._state.account(operation, lease, now)
        if event.kind is EventKind.COMPLETED:
            self._parts.lifecycle.completed(operation, lease, now)
        elif operation.kind is OperationKind.SUSPEND and self._state.options.keeps_saved_work and not event.gives_up:
            # The work of the lease is not saved, and exists only on its hosts.
            self._parts.occupied.stays(lease, event.host, event.reason, now)
        else:
            self._parts.deviations.failures.operation_failed(lease, operation.kind, now, event.host, event.reason)

    def _ended_early(self, lease: Lease, now: int) -> None:
        if lease.active_since is None:
            return
        ended = self._state.stop_counting(lease, now)
        self._state.recorder.count("early_ends")
        self._state.finish(ended, LeaseState.DONE, now)
        self.use_freed(ended, now, now + ended.remaining)

    def use_freed(self, lease: Lease, now: int, window_end: int) -> None:
        """Replan leases that can profit from the hosts of a lease, which are free earlier than planned."""
        moved = self._state.use_freed(lease.request.node_count, now, window_end)
        self._state.recorder.count("replans", moved)
