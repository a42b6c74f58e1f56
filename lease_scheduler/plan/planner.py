"""The planner: gives leases of each kind their places, and new places when reality deviates from the plan.

Sotomayor 2010, sections 4.3 and 5 (haizea F46-F59).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from math import inf

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.changing.early_end import pull, pull_deadline_leases, replan_waiting
from lease_scheduler.plan.changing.run_on import run_on
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.durations.suspension import SuspensionModel
from lease_scheduler.plan.fitting.largest_fit import fewer_that_fit
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.fitting.queue_filter import QueueFilter
from lease_scheduler.plan.interfaces import PlannerPolicies, Queueing, QueueRound
from lease_scheduler.plan.options import PlanningOptions, PreemptAt
from lease_scheduler.plan.placing.clearing import place_clearing, starts_later
from lease_scheduler.plan.placing.deadline import plan_deadline, requested_start
from lease_scheduler.plan.placing.elastic import at_least, is_elastic, place_elastic, placed_soonest
from lease_scheduler.plan.placing.exact_placement import exact_holding, find_room
from lease_scheduler.plan.placing.held import as_long_as_held
from lease_scheduler.plan.plan import NotPlannableError, Plan
from lease_scheduler.plan.preempting.displacing import make_room
from lease_scheduler.plan.preempting.preemption import instants_of_room
from lease_scheduler.plan.preempting.remaining_work import plan_rest, with_place
from lease_scheduler.plan.queue.alike_starts import AlikeStarts
from lease_scheduler.plan.queue.claims import ClaimedPlaces
from lease_scheduler.plan.queue.turn_places import TurnPlaces
from lease_scheduler.plan.transfers.caches import ImageCaches
from lease_scheduler.plan.transfers.images import ImagePlan
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.plan.transfers.preference import CachedFirst, HoldersFirst
from lease_scheduler.plan.transfers.timing import start_after_transfer

#: Agrees with the project on the place that was found for its queued lease. Returns the lease's value with that place,
#: or None if the project declines it; the lease has then left the queue.
Agree = Callable[[Lease], Lease | None]


class Planner:
    """Plans leases on a site.

    :param site: the hosts
    :param options: options set by the operator
    :param policies: the policies that it calls
    :param deadline_preemption: whether deadline leases may preempt each other (``[scheduling] deadline_placement``)
    :param transfers: how disk images get to hosts; None if they do not have to be brought there
    :ivar policies: the policies that it calls
    :ivar weights: weights of flows, for the queueing policy
    :ivar look_again: when the queue may have to be processed again even if nothing else happens; None if never
    :ivar ahead: how images are brought ahead of the start to hosts that would otherwise get them when servers boot;
        None if they are not
    :ivar caches: which images hosts are assumed to have, for ``ahead``
    """

    def __init__(
        self,
        site: Site,
        options: PlanningOptions,
        policies: PlannerPolicies,
        *,
        deadline_preemption: bool = False,
        transfers: TransferOptions | None = None,
    ) -> None:
        self.policies = policies
        self.plan = Plan(site)
        self.weights: Mapping[str, float] = {}
        self.look_again: int | None = None
        self.turn_places = TurnPlaces(remembers=transfers is None)
        self.ahead = None if transfers is None or transfers.required else transfers
        self.caches = ImageCaches(0 if self.ahead is None else self.ahead.host_cache_age)
        if transfers is not None and self.ahead is None:
            self.plan.images = ImagePlan(transfers)
        self.options = options
        self.unbuffered = SuspensionModel(options, self.plan.share_of_host)
        self.context = self._context(options, self.unbuffered)
        self.deadline_preemption = deadline_preemption

    def use(self, policies: PlannerPolicies) -> None:
        """Plan with other policies from now on. What is already planned stays."""
        self.policies = policies
        self.context = self._context(self.context.options, self.context.suspension)

    def _context(self, options: PlanningOptions, suspension: SuspensionModel) -> PlanningContext:
        policies = self.policies
        selection = policies.host_selection
        if self.ahead is not None:
            selection = CachedFirst(selection, self.caches)
        elif self.plan.images is not None:
            selection = HoldersFirst(selection, lambda: self.plan.images)
        return PlanningContext(
            self.plan, options, suspension, selection, policies.preemption, policies.mapper, policies.duration
        )

    def _context_for(self, lease: Lease) -> PlanningContext:
        if not lease.is_offered:
            return self.context
        # An offer may be declined, so no lease loses work before the start of an offered one.
        return replace(self.context, options=replace(self.context.options, preempt_at=PreemptAt.START))

    @property
    def queueing(self) -> Queueing:
        """The queueing policy."""
        return self.policies.queueing

    def leave_time(self, options: PlanningOptions) -> None:
        """Plan with other buffers and durations of operations from now on. What is already planned stays.

        :param options: the planner's options, with these values replaced
        """
        self.context = replace(
            self.context, options=options, suspension=SuspensionModel(options, self.plan.share_of_host)
        )
        # How long a run has to be for a suspension at its end follows from these durations.
        self.plan.needs.clear()

    # -- requests ----------------------------------------------------------------------------------------

    def place(self, lease: Lease, now: int, *, start: int | None = None, present: PresentHosts | None = None) -> Lease:
        """Give a pending reservation, immediate or deadline lease its place.

        An elastic lease gets the largest size for which no other lease has to make room.

        :param start: when a reservation or immediate lease starts, if not at the start in its terms
        :param present: hosts that the nodes of a reservation or immediate lease have already
        :return: its new value, which is in the plan
        :raises NotPlannableError: there is no place; the plan is as it was
        """
        self.plan.pass_to(now)
        if is_elastic(lease.request):
            return place_elastic(self.context, lease, lambda sized: self._place(sized, now, start, present))
        return self._place(lease, now, start, present)

    def _place(self, lease: Lease, now: int, start: int | None, present: PresentHosts | None) -> Lease:
        """Give a lease that is not elastic its place."""
        if lease.kind is LeaseKind.DEADLINE:
            context = self._context_for(lease)
            return plan_deadline(context, lease, now, may_preempt=self.deadline_preemption)
        if start is None and lease.kind is LeaseKind.IMMEDIATE:
            placed = self._place_at_once(as_long_as_held(lease, now), now, present)
            return placed if lease.offered_until is None else self.plan.put(replace(placed, request=lease.request))
        if start is None:
            start = now if lease.request.start is None else lease.request.start
        return self._place_from(lease, start, now, present)

    def _place_at_once(self, lease: Lease, now: int, present: PresentHosts | None) -> Lease:
        """Place an immediate lease where its image is, or after a transfer from now (Sotomayor 2010, 6.1)."""
        try:
            return self._place_from(lease, now, now, present)
        except NotPlannableError:
            images = self.plan.images
            later = None if images is None else start_after_transfer(images, lease.request)
            if later is None:
                raise
        return self._place_from(lease, later, now, present)

    def _place_from(self, lease: Lease, start: int, now: int, present: PresentHosts | None) -> Lease:
        """Place a reservation or immediate lease at a start, or as soon afterwards as other leases can be suspended."""
        if start < now:
            raise NotPlannableError(f"lease {lease.lease_id}: its start has passed")
        context = self._context_for(lease)
        try:
            return self._place_at(context, lease, start, now, present)
        except NotPlannableError:
            if lease.kind is not LeaseKind.RESERVATION or lease.request.start != start:
                raise
            room_from = max(now, lease.offered_until or 0)
            for later in instants_of_room(context, start, start + lease.request.duration, room_from):
                waits = replace(lease, request=replace(lease.request, start=later))
                with suppress(NotPlannableError):
                    placed = self._place_at(context, waits, later, now, present)
                    return self.plan.put(replace(placed, reason=starts_later(later - start)))
            raise

    def _place_at(
        self, context: PlanningContext, lease: Lease, start: int, now: int, present: PresentHosts | None
    ) -> Lease:
        """Place a reservation or immediate lease at exactly this start."""
        if lease.request.moves_others:
            return place_clearing(
                context, lease, start, now, deadline_preemption=self.deadline_preemption, present=present
            )
        may_preempt = lease.kind is LeaseKind.RESERVATION
        end = start + lease.request.duration + context.suspension.shutdown_time(lease.request)
        with self.plan.tentative():
            room = find_room(context, lease.request, start, end, now, may_preempt=may_preempt, present=present)
            if not room.is_made:
                make_room(context, room.in_the_way, start, end, now)
            return self.plan.put(with_place(lease, exact_holding(context, lease.request, room.assignment, start)))

    def place_most(
        self,
        lease: Lease,
        least: tuple[int, ...],
        now: int,
        *,
        start: int | None = None,
        present: PresentHosts | None = None,
    ) -> Lease:
        """Give a pending reservation, immediate or deadline lease as many nodes as ``place`` finds hosts for.

        The terms of the lease have the maximum numbers of nodes. ``most_that_fits`` says how numbers are chosen.

        :param least: for each node set, the smallest acceptable number of nodes
        :return: its new value, which is in the plan; its terms have the numbers of nodes that it got
        :raises NotPlannableError: there is no place even for the smallest numbers; the plan is as it was
        """
        # Most leases get all their nodes, and then need no trial.
        with suppress(NotPlannableError), self.plan.tentative():
            return self.place(lease, now, start=start, present=present)

        def fits(request: LeaseRequest) -> bool:
            try:
                with self.plan.trial():
                    self.place(replace(lease, request=at_least(request)), now, start=start, present=present)
            except NotPlannableError:
                return False
            return True

        granted = fewer_that_fit(lease.request, least, fits)
        if granted is None:
            raise NotPlannableError(f"no place for the minimum number of nodes of lease {lease.lease_id}")
        return self.place(replace(lease, request=granted), now, start=start, present=present)

    def enqueue(self, lease: Lease) -> Lease:
        """Put a pending best-effort lease, or one whose suspension is over, into the queue."""
        state = LeaseState.SUSPENDED_QUEUED if lease.state in SUSPENDED_STATES else LeaseState.QUEUED
        return self.plan.put(lease.to(state))

    def can_wait_with_place(self, now: int) -> bool:
        """Return whether one more best-effort lease may get a place in the future (haizea F47)."""
        return self._places_to_wait(now) > 0

    def _places_to_wait(self, now: int) -> float:
        """Return how many more best-effort leases may get a place in the future."""
        limit = self.options.backfilling_limit
        if limit is None:
            return inf
        return limit - len(self.plan.future_best_effort(now)) if limit > 0 else 0

    def brief_queueing(self) -> None:
        """Tell the queueing policy of the present hosts and weights."""
        self.queueing.follow(self.plan.site, self.weights)

    def never_served(self, request: LeaseRequest) -> str | None:
        """Return why the queueing policy would never let a lease of the queue start, or None if it could start."""
        if request.kind is not LeaseKind.BEST_EFFORT:
            return None
        self.brief_queueing()
        return self.queueing.refusal(request)

    def process_queue(self, now: int, agree: Agree | None = None) -> None:
        """Give queued leases places as far as possible, in the order of the queueing policy (haizea F46-F48).

        :param agree: called before a lease gets its place; None if no agreement is needed
        """
        # If projects agree on places, code other than the planner may look at the plan between two leases.
        alike = AlikeStarts(self.context, now, is_possible=agree is None)
        try:
            if not self.plan.queue:
                return
            queue = self._serve_turns(now, agree, alike)
            if self.queueing.has_claims:
                alike.enter()
                self._serve_claims(now, agree, queue)
        finally:
            alike.enter()
            self.turn_places.forget()
            # However the pass ended, leases may have been left out only for the time being.
            self.look_again = self.queueing.look_again(now)

    def as_queued(self, lease: Lease, now: int) -> Lease:
        """Return what becomes of a pending best-effort lease if it is queued now; it is in the plan.

        Use it only in a trial. No project is asked to agree, and the queueing policy does not change.
        """
        look_again = self.look_again
        self.brief_queueing()
        try:
            with self.queueing.with_queued(self.enqueue(lease)):
                self.process_queue(now)
        finally:
            self.look_again = look_again
        return self.plan.leases[lease.lease_id]

    def _serve_turns(self, now: int, agree: Agree | None, alike: AlikeStarts) -> QueueRound | None:
        """Give leases places in their turns; return the round, or None if nothing that is queued could fit."""
        to_wait = self._places_to_wait(now)
        needed = self.plan.queue.needed_by_all()
        if to_wait <= 0 and self.plan.availability.is_full(now, needed):
            return None
        reach = QueueFilter(self.context, now)
        self.brief_queueing()
        queue = QueueRound(now, self.plan.queue.in_order, self.plan.queue.waiting, self.plan.leases)
        served: set[str] = set()
        for turn in self.queueing.turns(queue):
            lease = turn.lease
            holding = alike.holding_for(lease)
            is_alike = holding is not None
            if holding is not None and not turn.allows(holding):
                holding = None
            if not is_alike:
                alike.enter()
                waits = to_wait > 0 and (turn.latest_start is None or turn.latest_start > now)
                if waits or not reach.is_too_short(lease):
                    holding = self.turn_places.place(self.context, turn, now, waits=waits)
            if holding is None:
                if self.options.backfilling_limit == 0:
                    return queue
                continue
            if lease.lease_id in served:
                continue
            served.add(lease.lease_id)
            found: Lease | None = placed_soonest(self.context, lease, holding, now, turn.may_grow)
            if agree is not None and found is not None:
                found = agree(found)
            if found is None:
                continue
            placed = queue.placed[lease.lease_id] = alike.take(found) if is_alike else self.plan.put(found)
            if not is_alike:
                alike.follow(lease)
            if self.plan.images is not None:
                # Leases that share a transfer may now wait for something else.
                to_wait = self._places_to_wait(now)
            else:
                to_wait -= self.plan.is_in_future(placed, now)
            if to_wait <= 0 and not alike.has_room:
                alike.enter()
                if self.plan.availability.is_full(now, needed):
                    return queue
        return queue

    def _serve_claims(self, now: int, agree: Agree | None, queue: QueueRound | None) -> None:
        """Give leases places for which others are suspended, as far as the queueing policy has claims."""
        self.brief_queueing()
        queue = queue or QueueRound(now, self.plan.queue.in_order, self.plan.queue.waiting, self.plan.leases)
        places = ClaimedPlaces(self.context, now, agree)
        for claim in self.queueing.claims(queue):
            placed = places.place(claim)
            if placed is not None:
                queue.placed[placed.lease_id] = placed

    # -- deviations from the plan ------------------------------------------------------------------------

    def use_freed_capacity(self, nodes: int, now: int, window_end: int, *, earliest: int | None = None) -> int:
        """Plan leases again that can profit from capacity that became free in ``[now, window_end)``.

        :param nodes: number of nodes that became free
        :param earliest: nothing is planned to start before this instant, by default ``now``
        :return: number of leases that were planned again
        """
        self.plan.pass_to(now)
        first = now if earliest is None else max(now, earliest)
        return replan_waiting(self.context, first) + pull_deadline_leases(self.context, nodes, first, window_end)

    def place_rest(self, lease: Lease, now: int, *, earliest: int | None = None) -> Lease:
        """Plan the rest of a deadline lease again, as early as possible.

        :param earliest: the rest starts before this instant only if it would otherwise miss its deadline
        :raises NotPlannableError: it can no longer be done by the deadline; the plan is as it was
        """
        self.plan.pass_to(now)
        soonest = requested_start(lease, now)
        if earliest is not None and earliest > soonest:
            with suppress(NotPlannableError), self.plan.tentative():
                return plan_rest(self.context, lease, earliest)
        with self.plan.tentative():
            return plan_rest(self.context, lease, soonest)

    def sooner(self, lease: Lease, now: int, *, earliest: int | None = None) -> Lease:
        """Give a deadline lease that has not started an earlier place if there is one.

        :param earliest: it does not start before this instant, by default ``now``
        :return: its value in the plan
        """
        first = now if earliest is None else max(now, earliest)
        pull(self.context, lease, first, lease.holdings[-1].end)
        return self.plan.leases[lease.lease_id]

    def run_on(self, lease: Lease, now: int) -> bool:
        """Let a running lease whose suspension is due run on, if it was only expected to be over by now.

        :return: whether it runs on
        """
        is_apart = lease.lease_id in self.plan.queue.apart
        return not is_apart and self.context.duration.shortens and run_on(self.context, lease, now)

    def release(self, lease: Lease) -> Lease:
        """Remove all holdings of a lease."""
        return self.plan.put(replace(lease, holdings=()))
