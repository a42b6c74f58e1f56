"""The engine: one per site, in the service and in the simulator (Sotomayor 2010, section 4.2; haizea F18, F39)."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from lease_scheduler.engine.agenda import next_due
from lease_scheduler.engine.deviations import Deviations
from lease_scheduler.engine.interfaces import Admission, Clock, Cloud, CloudEvent, EventKind, Recorder, Store
from lease_scheduler.engine.lifecycle import Lifecycle
from lease_scheduler.engine.state import EngineOptions, EngineState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explain import explain, too_large
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner


class Engine:
    """Drives leases through their life.

    ``step`` does everything that is due at the clock's present instant. Whoever runs the engine calls it whenever
    ``next_due`` has come, the cloud has something to report, or a request was submitted.
    """

    def __init__(
        self,
        planner: Planner,
        admission: Admission,
        clock: Clock,
        cloud: Cloud,
        store: Store,
        recorder: Recorder,
        options: EngineOptions,
    ) -> None:
        self._state = EngineState(planner, cloud, store, recorder, options)
        self._admission = admission
        self._clock = clock
        self._deviations = Deviations(self._state)
        self._lifecycle = Lifecycle(self._state, self._deviations)
        self._submitted: deque[LeaseRequest] = deque()
        self._sequence = 0
        self._known: set[str] = set()

    # -- requests ----------------------------------------------------------------------------------------

    def submit(self, request: LeaseRequest) -> None:
        """Take a request; the next step decides on it.

        :raises InvalidValueError: there was a lease of that id before
        """
        if request.lease_id in self._known:
            raise InvalidValueError("lease_id", f"there is a lease {request.lease_id} already")
        self._known.add(request.lease_id)
        self._submitted.append(request)

    def cancel(self, lease_id: str, reason: str = "cancelled by its consumer") -> None:
        """End a lease because its consumer wants so (haizea F16).

        :param reason: why, for people
        :raises InvalidValueError: there is no such live lease
        """
        lease = self._state.lease(lease_id)
        if lease is None:
            raise InvalidValueError("lease_id", f"there is no live lease {lease_id}")
        now = self._clock.now()
        if lease.active_since is not None:
            lease = self._state.stop_counting(lease, now)
        self._state.cloud.discard(lease_id, now)
        held = lease.reservations
        self._state.finish(lease, LeaseState.CANCELLED, now, reason)
        if held:
            self._use_freed(lease, now, max(r.end for r in held))
        self._serve_queue(now)

    # -- time --------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Do everything that is due now.

        The order is that of Haizea's main loop, because results depend on it: what the cloud reports, ends, starts,
        new requests, the queue, and then what was planned to begin at once.
        """
        now = self._clock.now()
        self._take_reports(now)
        if self._state.planner.plan.outages:
            # Who is back at this very second has been reported by now.
            self._deviations.extend_outages(now)
            self._state.publish(now)
        self._act(now)
        self._admit(now)
        self._serve_queue(now)
        self._state.planner.plan.forget(now)

    def next_due(self) -> int | None:
        """The next instant at which something is planned; none if nothing is."""
        agenda = self._state.agenda
        while (entry := agenda.first()) is not None:
            instant, what, lease_id = entry
            if self._is_due(instant, what, lease_id) is not None:
                return instant
            agenda.drop_first()
        return None

    def live_leases(self) -> list[Lease]:
        """Leases that have not come to their end, in the order of submission."""
        return sorted(self._state.planner.plan.leases.values(), key=lambda lease: lease.sequence)

    @property
    def is_idle(self) -> bool:
        """Whether no lease is live and no request waits to be decided on."""
        return not self._state.planner.plan.leases and not self._submitted

    # -- parts of a step ---------------------------------------------------------------------------------

    def _serve_queue(self, now: int) -> None:
        """Give queued leases places, and begin what can begin at once.

        A start that fails at once puts its lease back into the queue or ends it, and its hosts are free again; with
        nothing else to come, nobody would look at the queue another time.
        """
        plan = self._state.planner.plan
        while True:
            self._state.planner.process_queue(now + self._state.options.planning_lead)
            self._state.publish(now)
            waiting, live = plan.queue_length, len(plan.leases)
            self._act(now)
            if plan.queue_is_empty or (plan.queue_length <= waiting and len(plan.leases) == live):
                return

    def _is_due(self, instant: int, what: int, lease_id: str) -> Lease | None:
        lease = self._state.lease(lease_id)
        if lease is None:
            return None
        due = next_due(lease, in_operation=lease_id in self._state.operations)
        return lease if due == (instant, what) else None

    def _act(self, now: int) -> None:
        """What the cloud reports and what is due, until nothing of either is left."""
        state = self._state
        while True:
            self._take_reports(now)
            entry = state.agenda.pop(now)
            if entry is None:
                return
            instant, what, lease_id = entry
            lease = self._is_due(instant, what, lease_id)
            if lease is not None:
                self._lifecycle.act(what, lease, now)
                state.publish(now)

    def _take_reports(self, now: int) -> None:
        for event in self._state.cloud.take_events(now):
            self._handle(event, now)
            self._state.publish(now)

    def _handle(self, event: CloudEvent, now: int) -> None:
        if event.kind is EventKind.HOST_DOWN and event.host is not None:
            self._deviations.host_down(event.host, now)
            return
        if event.kind is EventKind.HOST_UP and event.host is not None:
            self._deviations.host_up(event.host, now)
            return
        lease = self._state.lease(event.lease_id)
        if lease is None:
            return
        if event.kind is EventKind.ENDED:
            self._ended_early(lease, now)
            return
        operation = self._state.operations.pop(lease.lease_id, None)
        if operation is None:
            return
        if event.kind is EventKind.COMPLETED:
            self._lifecycle.completed(operation, lease, now)
        else:
            self._deviations.operation_failed(lease, operation.kind, now, event.host, event.reason)

    def _ended_early(self, lease: Lease, now: int) -> None:
        if lease.active_since is None:
            return
        ended = self._state.stop_counting(lease, now)
        self._state.recorder.count("early_ends")
        self._state.finish(ended, LeaseState.DONE, now)
        self._use_freed(ended, now, now + ended.remaining)

    def _use_freed(self, lease: Lease, now: int, window_end: int) -> None:
        moved = self._state.planner.use_freed_capacity(lease.request.node_count, now, window_end)
        self._state.recorder.count("replans", moved)

    def _admit(self, now: int) -> None:
        state = self._state
        while self._submitted:
            request = self._submitted.popleft()
            lease = state.put(replace(Lease(request, self._sequence).to(LeaseState.PENDING)))
            self._sequence += 1
            refusal = too_large(state.planner.context, request) or self._admission.refusal(request, now)
            if refusal is not None:
                state.finish(lease, LeaseState.REJECTED, now, refusal)
            elif request.kind is LeaseKind.BEST_EFFORT:
                state.planner.enqueue(lease)
            else:
                self._place(lease, now)
            state.publish(now)

    def _place(self, lease: Lease, now: int) -> None:
        state = self._state
        try:
            state.planner.place(lease, now)
        except NotPlannableError as error:
            reason = str(error)
            if state.options.explain_refusals:
                reason = explain(state.planner.context, lease.request, now).message
            state.finish(lease, LeaseState.REJECTED, now, reason)
            return
        others = state.publish(now) - 1
        if others > 0:
            state.recorder.count("preemptions" if lease.kind is LeaseKind.RESERVATION else "replans", others)
