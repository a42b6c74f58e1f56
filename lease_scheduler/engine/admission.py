"""Admission of requests: each is refused, queued or placed."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import replace

import numpy as np

from lease_scheduler.engine.parts import Parts
from lease_scheduler.engine.prices import PriceTooHighError
from lease_scheduler.engine.state import EngineState
from lease_scheduler.engine.submissions import Submission
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.changing.sleepers import closed
from lease_scheduler.plan.explaining.awake_trial import fits_awake
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal, too_large
from lease_scheduler.plan.explaining.quote import Quote, refusal_of
from lease_scheduler.plan.fitting.count_ranges import with_ranges
from lease_scheduler.plan.fitting.largest_fit import with_counts
from lease_scheduler.plan.placing.elastic import placed_soonest
from lease_scheduler.plan.placing.held import as_long_as_held
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.preemption import is_preempted, loses_work


class Admission:
    """Decider of requests, in the order of submission.

    :param state: state that the parts of the engine share
    :param parts: the parts of the engine
    :ivar submitted: undecided requests
    """

    def __init__(self, state: EngineState, parts: Parts) -> None:
        self._state = state
        self._parts = parts
        self.submitted: deque[Submission] = deque()

    def admit(self, now: int) -> None:
        """Decide all submitted requests."""
        state = self._state
        while self.submitted:
            asked = self.submitted.popleft()
            request, least = asked.request, asked.least
            if request.min_yield is not None:
                self._parts.places.set_apart()
            made = Lease(
                request,
                self._parts.order.next,
                offered_until=asked.offered_until,
                negotiation=asked.negotiation,
                approval=asked.approval,
                grant=asked.grant,
            )
            lease = state.put(made.to(LeaseState.PENDING))
            self._parts.order.next += 1
            smallest = request if least is None else with_counts(request, least)
            refusal = too_large(state.planner.context, smallest)
            refusal = refusal or self._parts.fluid.refusal(request)
            refusal = refusal or state.planner.never_served(smallest)
            refusal = refusal or state.policies.admission.refusal(request, now, state.view(now))
            if refusal is not None:
                state.finish(lease, LeaseState.REJECTED, now, refusal)
            elif request.kind is LeaseKind.BEST_EFFORT:
                if least is not None:
                    lease = replace(lease, request=with_ranges(request, least))
                waits = lease if self._parts.forecasts is None else self._parts.forecasts.with_expected_wait(lease)
                unassured = self.unassured(waits, now)
                if unassured is not None:
                    state.finish(lease, LeaseState.REJECTED, now, unassured.message)
                elif waits.is_offered:
                    self._hold(waits, now)
                else:
                    state.planner.enqueue(waits)
            else:
                self._place(lease, least, now)
            state.publish(now)

    def unassured(self, lease: Lease, now: int) -> Refusal | None:
        """Return why the lifetime that a best-effort lease asks for cannot be promised.

        None if it can, if the lease asks for none, or if it may wait until it can.
        """
        if not self._parts.assurances.applies_to(lease) or self._parts.assurances.may_wait(lease):
            return None
        planner, earliest = self._state.planner, self._state.earliest(now)
        holding = planner.turn_places.foresee(planner.context, lease, earliest)
        placed = lease if holding is None else placed_soonest(planner.context, lease, holding, earliest)
        return self._parts.assurances.quoted(Quote(placed), now).refusal

    def _place(self, lease: Lease, least: tuple[int, ...] | None, now: int) -> None:
        state = self._state
        unwanted, emptied = np.empty(0, dtype=np.int64), 0
        if state.powers:
            unwanted, emptied = self._parts.power_decisions.for_request(lease.request, now)
        try:
            # If the price is too high, the plan is restored, so no lease is preempted in vain.
            with state.planner.plan.tentative():
                awake = self._placed_without(unwanted, lease, least, now) if len(unwanted) else None
                if awake is not None:
                    placed = awake
                elif least is None:
                    placed = state.planner.place(lease, now)
                else:
                    placed = state.planner.place_most(lease, least, now)
                if placed.is_offered:
                    placed = state.put(self._parts.offers.before_room_is_made(placed, now))
                if self._parts.assurances.applies_to(placed):
                    placed = state.put(self._parts.assurances.agree(placed, now))
                if self._parts.prices.are_asked:
                    state.put(self._parts.prices.agree(placed))
        except NoPlaceError as error:
            state.finish(lease, LeaseState.REJECTED, now, error.refusal.message)
            return
        except PriceTooHighError as error:
            self._parts.prices.refused(lease, error, now)
            return
        except NotPlannableError as error:
            reason = str(error)
            if state.powers and fits_awake(state.planner, lease.request, now):
                state.recorder.count("asleep_refusals")
            if state.options.explain_refusals:
                held = as_long_as_held(lease, now).request
                smallest = held if least is None else with_counts(held, least)
                may_preempt = not lease.is_offered
                reason = refusal_of(state.planner, smallest, now, error, may_preempt=may_preempt).message
            state.finish(lease, LeaseState.REJECTED, now, reason)
            return
        self._count_preempted(lease)
        others = state.publish(now) - 1
        if others > 0:
            state.recorder.count("preemptions" if lease.kind is LeaseKind.RESERVATION else "replans", others)
        if emptied:
            self._parts.power_decisions.empty(emptied, now)
            state.publish(now)

    def _hold(self, waits: Lease, now: int) -> None:
        """Hold a best-effort lease, which gets its price but no place."""
        state = self._state
        try:
            state.put(
                self._parts.prices.agree(waits, others_make_room=False) if self._parts.prices.are_asked else waits
            )
        except PriceTooHighError as error:
            self._parts.prices.refused(waits, error, now)

    def _placed_without(
        self, unwanted: IntArray, lease: Lease, least: tuple[int, ...] | None, now: int
    ) -> Lease | None:
        """Place a lease without using some sleeping hosts, and return it; None if there is no such place."""
        planner = self._state.planner
        with suppress(NotPlannableError), closed(planner.plan, unwanted, now):
            return planner.place(lease, now) if least is None else planner.place_most(lease, least, now)
        return None

    def _count_preempted(self, preemptor: Lease) -> None:
        """Count the leases that were preempted for a lease that was just placed, without those that were moved."""
        changes = self._state.planner.plan.changes()
        others = [(before, after) for before, after in changes if before and after.lease_id != preemptor.lease_id]
        preempted = [(before, after) for before, after in others if is_preempted(before, after)]
        if not preempted:
            return
        recorder = self._state.recorder
        recorder.count("preempted_leases", len(preempted))
        recorder.count("preempted_nodes", sum(after.request.node_count for _, after in preempted))
        without_loss = sum(not loses_work(before, after) for before, after in preempted)
        if without_loss:
            recorder.count("preemptions_without_loss", without_loss)
