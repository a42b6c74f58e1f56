"""A step of the engine: what it does, and in which order (Sotomayor 2010, section 4.2; haizea F18, F39)."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from lease_scheduler.engine.assurances import Assurances
from lease_scheduler.engine.deviations import Deviations
from lease_scheduler.engine.evasion import Evasion
from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.engine.fractional import FluidShares
from lease_scheduler.engine.fractional_decisions import FluidDecisions
from lease_scheduler.engine.fractional_places import Agree
from lease_scheduler.engine.image_supply import ImageSupply
from lease_scheduler.engine.interfaces import CloudEvent, EventKind, OperationKind
from lease_scheduler.engine.lifecycle import Lifecycle
from lease_scheduler.engine.live_moves import LiveMoves
from lease_scheduler.engine.occupied import OccupiedHosts
from lease_scheduler.engine.offers import Offers
from lease_scheduler.engine.outages import Outages
from lease_scheduler.engine.power import HostPowers
from lease_scheduler.engine.power_decisions import PowerDecisions
from lease_scheduler.engine.preparation import Preparation
from lease_scheduler.engine.prices import Prices, PriceTooHighError
from lease_scheduler.engine.state import EngineState
from lease_scheduler.engine.submissions import Submission, SubmissionOrder
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.changing.sleepers import closed
from lease_scheduler.plan.explaining.awake_trial import fits_awake
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal, too_large
from lease_scheduler.plan.explaining.quote import Quote, refusal_of
from lease_scheduler.plan.fitting.count_ranges import with_ranges
from lease_scheduler.plan.fitting.largest_fit import with_counts
from lease_scheduler.plan.placing.elastic import placed_soonest
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.preemption import is_preempted, loses_work


class EngineSteps:
    """Does what is due at an instant.

    :param state: state that the parts of the engine share
    :param prices: computes prices
    :param forecasts: tells by when leases start; None to tell nothing
    :param order: gives requests their positions in the order of submission
    :ivar power_decisions: has hosts sleep and wake
    :ivar live_moves: moves running leases as the relocation policy decides
    :ivar fluid: keeps the yields of fluid leases up to date
    :ivar places: has fluid leases run where the fractional policy wants them
    :ivar submitted: requests that have not been decided yet
    """

    def __init__(
        self,
        state: EngineState,
        prices: Prices,
        offers: Offers,
        deviations: Deviations,
        outages: Outages,
        images: ImageSupply,
        order: SubmissionOrder,
        powers: HostPowers,
        assurances: Assurances,
        live_moves: LiveMoves,
        fluid: FluidShares,
        places: FluidDecisions,
        forecasts: Forecasts | None = None,
    ) -> None:
        self._state = state
        self._prices = prices
        self._assurances = assurances
        self.live_moves = live_moves
        self._forecasts = forecasts
        self.fluid = fluid
        self.places = places
        self._offers = offers
        self._deviations = deviations
        self._outages = outages
        self._occupied = occupied = OccupiedHosts(state, deviations, outages)
        self._lifecycle = Lifecycle(state, deviations, offers, occupied)
        self._preparation = Preparation(state)
        self._evasion = Evasion(state)
        self._images = images
        self._powers = powers
        self.power_decisions = PowerDecisions(state, powers)
        self.submitted: deque[Submission] = deque()
        self._order = order

    def step(self, now: int) -> None:
        """Do everything that is due.

        The order is that of Haizea's main loop, because results depend on it: reports of the cloud, ends, starts, new
        requests, the queue, and then leases that were planned to start at once.
        """
        self._state.planner.plan.pass_to(now)
        if self._state.runs.fluid:
            self.places.set_apart()
        # Without any host that has slept or may come to, a step costs nothing more.
        may_sleep = self._state.powers or self._state.policies.power.manages
        if may_sleep:
            # An end that is reported makes room that others take at once.
            self._powers.keep_taken(now)
        self._take_reports(now)
        self._images.begin_due(now)
        if self._state.planner.plan.outages:
            # Hosts that recover at this instant have already been reported.
            self._outages.extend(now)
            self._occupied.look_again(now)
            self._state.publish(now)
        if may_sleep:
            self._powers.follow(now)
        self._deviations.retries.go_on(now)
        self._act(now)
        self._admit(now)
        if may_sleep:
            self.power_decisions.serve_waiting(now)
        self.serve_queue(now)
        # Without fluid leases, a step costs nothing more.
        has_fluid = self._state.runs.fluid or self.places.known
        if has_fluid and self.places.decide(now, self._agreement(now)):
            self._act(now)
        if self.live_moves.move(now):
            self._state.publish(now)
        if may_sleep:
            self.power_decisions.serve_apart(now)
            self.power_decisions.let_sleep(now)
        self.fluid.follow(now)
        if has_fluid:
            self.places.look(now)
        self._state.planner.plan.forget(now)

    def next_due(self) -> int | None:
        """Return the next planned instant, or None."""
        agenda = self._state.agenda
        looks = min(self._state.occupied.values(), default=None)
        retries = self._deviations.retries.next_due()
        queue = self._state.planner.look_again
        moves = self.live_moves.next_due()
        places = self.places.next_due() if self._state.runs.fluid or self.places.known else None
        instants = [self._preparation.next_due(), self._images.next_due(), retries, looks, queue, moves, places]
        if self._state.powers or self._state.policies.power.manages:
            instants += [self._powers.next_due(), self.power_decisions.next_due()]
        ahead = min((instant for instant in instants if instant is not None), default=None)
        while (entry := agenda.first()) is not None:
            instant, what, lease_id = entry
            if self._is_due(instant, what, lease_id) is not None:
                return instant if ahead is None else min(instant, ahead)
            agenda.drop_first()
        return ahead

    def serve_queue(self, now: int) -> None:
        """Give queued leases places, and start those that can start at once.

        If a start fails at once, its lease goes back to the queue or ends, and its hosts are free again. So the queue
        is processed until nothing changes: there may be no other event that would cause it to be processed again.
        """
        self._evasion.evade(now)
        self._preparation.prepare(now)
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
            self._images.begin_due(now)
            waiting, live = len(plan.queue), len(plan.leases)
            self._act(now)
            if not plan.queue or (len(plan.queue) <= waiting and len(plan.leases) == live):
                break
        self._evasion.evade(now)

    def _agreement(self, now: int) -> Agree | None:
        """Return what a lease has to agree to before it gets a place out of the queue, or None."""
        is_asked = self._prices.are_asked or self._assurances.are_made
        return partial(self._agree_in_queue, now=now) if is_asked else None

    def _agree_in_queue(self, placed: Lease, now: int) -> Lease | None:
        """Return a lease that gets a place out of the queue with its promise and its price; None if it gets none."""
        promised = self._assurances.agree_in_queue(placed, now)
        if promised is None or not self._prices.are_asked:
            return promised
        return self._prices.agree_in_queue(promised, now)

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
                self._lifecycle.act(what, lease, now)
                state.publish(now)

    def _take_reports(self, now: int) -> None:
        for event in self._state.cloud.take_events(now):
            self._handle(event, now)
            self._state.publish(now)

    def _handle(self, event: CloudEvent, now: int) -> None:
        if event.kind is EventKind.HOST_DOWN and event.host is not None:
            self._outages.host_down(event.host, now)
            self._images.host_lost(event.host, now)
            return
        if event.kind is EventKind.HOST_CLOSED and event.host is not None:
            self._outages.host_closed(event.host, now)
            return
        if event.kind is EventKind.HOST_UP and event.host is not None:
            self._outages.host_up(event.host, now)
            return
        if event.kind is EventKind.HOST_ASLEEP and event.host is not None:
            self._powers.is_asleep(event.host, now)
            return
        if event.kind is EventKind.HOST_AWAKE and event.host is not None:
            self._powers.is_awake(event.host, now, event.reason)
            return
        if event.transfer is not None:
            self._images.handle(event, now)
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
                self._deviations.relocation.replace_lost(lease, now, event.reason)
            return
        if event.kind is EventKind.ADJUSTED:
            self._occupied.followed(lease, now)
            return
        operation = self._state.runs.end(lease.lease_id)
        if event.occupied:
            if operation is not None:
                self._state.account(operation, lease, now)
            self._occupied.refused(lease, operation, event.occupied, now)
            return
        if operation is None:
            return
        self._state.account(operation, lease, now)
        if event.kind is EventKind.COMPLETED:
            self._lifecycle.completed(operation, lease, now)
        elif operation.kind is OperationKind.SUSPEND and self._state.options.keeps_saved_work and not event.gives_up:
            # The lease's work is not saved and exists only on its hosts.
            self._occupied.stays(lease, event.host, event.reason, now)
        else:
            self._deviations.failures.operation_failed(lease, operation.kind, now, event.host, event.reason)

    def _ended_early(self, lease: Lease, now: int) -> None:
        if lease.active_since is None:
            return
        ended = self._state.stop_counting(lease, now)
        self._state.recorder.count("early_ends")
        self._state.finish(ended, LeaseState.DONE, now)
        self.use_freed(ended, now, now + ended.remaining)

    def use_freed(self, lease: Lease, now: int, window_end: int) -> None:
        """Plan leases again that can profit from the hosts of a lease, as these are free earlier than planned."""
        moved = self._state.use_freed(lease.request.node_count, now, window_end)
        self._state.recorder.count("replans", moved)

    def _admit(self, now: int) -> None:
        state = self._state
        while self.submitted:
            asked = self.submitted.popleft()
            request, least = asked.request, asked.least
            if request.min_yield is not None:
                self.places.set_apart()
            made = Lease(
                request,
                self._order.next,
                offered_until=asked.offered_until,
                negotiation=asked.negotiation,
                approval=asked.approval,
            )
            lease = state.put(made.to(LeaseState.PENDING))
            self._order.next += 1
            smallest = request if least is None else with_counts(request, least)
            refusal = too_large(state.planner.context, smallest)
            refusal = refusal or self.fluid.refusal(request)
            refusal = refusal or state.planner.never_served(smallest)
            refusal = refusal or state.policies.admission.refusal(request, now, state.view(now))
            if refusal is not None:
                state.finish(lease, LeaseState.REJECTED, now, refusal)
            elif request.kind is LeaseKind.BEST_EFFORT:
                if least is not None:
                    lease = replace(lease, request=with_ranges(request, least))
                waits = lease if self._forecasts is None else self._forecasts.with_expected_wait(lease)
                unassured = self.unassured(waits, now)
                if unassured is not None:
                    state.finish(lease, LeaseState.REJECTED, now, unassured.message)
                else:
                    state.planner.enqueue(waits)
            else:
                self._place(lease, least, now)
            state.publish(now)

    def unassured(self, lease: Lease, now: int) -> Refusal | None:
        """Return why a best-effort lease is refused the lifetime that it wants; None if it may wait, or gets it."""
        if not self._assurances.applies_to(lease) or self._assurances.may_wait(lease):
            return None
        planner, earliest = self._state.planner, self._state.earliest(now)
        holding = planner.turn_places.foresee(planner.context, lease, earliest)
        placed = lease if holding is None else placed_soonest(planner.context, lease, holding, earliest)
        return self._assurances.quoted(Quote(placed), now).refusal

    def _place(self, lease: Lease, least: tuple[int, ...] | None, now: int) -> None:
        state = self._state
        unwanted, emptied = np.empty(0, dtype=np.int64), 0
        if state.powers:
            unwanted, emptied = self.power_decisions.for_request(lease.request, now)
        try:
            # If the price is too high, the plan is restored, so no lease makes room in vain.
            with state.planner.plan.tentative():
                awake = self._placed_without(unwanted, lease, least, now) if len(unwanted) else None
                if awake is not None:
                    placed = awake
                elif least is None:
                    placed = state.planner.place(lease, now)
                else:
                    placed = state.planner.place_most(lease, least, now)
                if placed.is_offered:
                    placed = state.put(self._offers.before_room_is_made(placed, now))
                if self._assurances.applies_to(placed):
                    placed = state.put(self._assurances.agree(placed, now))
                if self._prices.are_asked:
                    state.put(self._prices.agree(placed))
        except NoPlaceError as error:
            state.finish(lease, LeaseState.REJECTED, now, error.refusal.message)
            return
        except PriceTooHighError as error:
            self._prices.refused(lease, error, now)
            return
        except NotPlannableError as error:
            reason = str(error)
            if state.powers and fits_awake(state.planner, lease.request, now):
                state.recorder.count("asleep_refusals")
            if state.options.explain_refusals:
                smallest = lease.request if least is None else with_counts(lease.request, least)
                may_preempt = not lease.is_offered
                reason = refusal_of(state.planner, smallest, now, error, may_preempt=may_preempt).message
            state.finish(lease, LeaseState.REJECTED, now, reason)
            return
        self._count_preempted(lease)
        others = state.publish(now) - 1
        if others > 0:
            state.recorder.count("preemptions" if lease.kind is LeaseKind.RESERVATION else "replans", others)
        if emptied:
            self.power_decisions.empty(emptied, now)
            state.publish(now)

    def _placed_without(
        self, unwanted: IntArray, lease: Lease, least: tuple[int, ...] | None, now: int
    ) -> Lease | None:
        """Give a lease a place without some sleeping hosts, and return it; None if there is no such place."""
        planner = self._state.planner
        with suppress(NotPlannableError), closed(planner.plan, unwanted, now):
            return planner.place(lease, now) if least is None else planner.place_most(lease, least, now)
        return None

    def _count_preempted(self, preemptor: Lease) -> None:
        """Count the leases that have to make room for a lease that was just placed, apart from those that are moved."""
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
