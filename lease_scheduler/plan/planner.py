"""The planner: gives every kind of lease its place, and new places when the world changes.

Sotomayor 2010, sections 4.3 and 5 (haizea F46-F59).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.clearing import place_clearing
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.deadline import plan_deadline
from lease_scheduler.plan.displacing import make_room
from lease_scheduler.plan.earliest_fit import place_soonest
from lease_scheduler.plan.early_end import pull, pull_deadline_leases, replan_waiting
from lease_scheduler.plan.exact_placement import exact_holding, find_room
from lease_scheduler.plan.interfaces import HostSelection, Mapper, Preemption
from lease_scheduler.plan.largest_fit import most_that_fits
from lease_scheduler.plan.mapper import GREEDY
from lease_scheduler.plan.options import PlanningOptions, PreemptAt
from lease_scheduler.plan.plan import NotPlannableError, Plan
from lease_scheduler.plan.preemption import instants_of_room
from lease_scheduler.plan.present_hosts import PresentHosts
from lease_scheduler.plan.queue_filter import QueueFilter
from lease_scheduler.plan.remaining_work import plan_rest, with_place
from lease_scheduler.plan.suspension import SuspensionModel
from lease_scheduler.plan.transfers.caches import ImageCaches
from lease_scheduler.plan.transfers.images import ImagePlan
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.plan.transfers.preference import CachedFirst, HoldersFirst
from lease_scheduler.plan.transfers.timing import start_after_transfer

#: Agrees with the consumer of a queued lease on the place that was found for it. Gives the lease's value with that
#: place; none if he does not want it, and then the lease has left the queue.
Agree = Callable[[Lease], Lease | None]


def starts_later(seconds: int) -> str:
    """Why a lease begins later than its requester asked, for people."""
    return f"starts {seconds} s later than asked: others are suspended first"


class Planner:
    """Plans leases on a site.

    :param site: the hosts
    :param options: what the operator set
    :param selection: host selection policy
    :param preemption: preemption policy
    :param deadline_preemption: whether deadline leases may preempt each other (``[scheduling] deadline_placement``)
    :param transfers: how disk images get to hosts; none if they are there whoever needs them
    :param mapper: mapper policy
    :ivar ahead: how images are brought ahead where booting would bring them anyway; none if they are not
    :ivar caches: what hosts have of them then
    """

    def __init__(
        self,
        site: Site,
        options: PlanningOptions,
        selection: HostSelection,
        preemption: Preemption,
        *,
        deadline_preemption: bool = False,
        transfers: TransferOptions | None = None,
        mapper: Mapper = GREEDY,
    ) -> None:
        self.plan = Plan(site)
        self.ahead = None if transfers is None or transfers.required else transfers
        self.caches = ImageCaches(0 if self.ahead is None else self.ahead.host_cache_age)
        if self.ahead is not None:
            selection = CachedFirst(selection, self.caches)
        elif transfers is not None:
            self.plan.images = ImagePlan(transfers)
            selection = HoldersFirst(selection, lambda: self.plan.images)
        self.options = options
        self.unbuffered = SuspensionModel(options, self.plan.share_of_host)
        self.context = PlanningContext(self.plan, options, self.unbuffered, selection, preemption, mapper)
        self.deadline_preemption = deadline_preemption
        # Nobody's work is lost for a lease that may not be wanted in the end.
        self._for_offers = replace(self.context, options=replace(options, preempt_at=PreemptAt.START))

    def leave_time(self, options: PlanningOptions) -> None:
        """Plan from now on with other buffers and times of operations; what is planned already stays as it is.

        :param options: those that the planner was made with, but for these
        """
        self.context = replace(
            self.context, options=options, suspension=SuspensionModel(options, self.plan.share_of_host)
        )
        self._for_offers = replace(self.context, options=replace(options, preempt_at=PreemptAt.START))

    # -- requests ----------------------------------------------------------------------------------------

    def place(self, lease: Lease, now: int, *, start: int | None = None, present: PresentHosts | None = None) -> Lease:
        """Give a pending reservation, immediate or deadline lease its place at once.

        :param start: when a reservation or immediate lease begins, if not when its terms say
        :param present: hosts that the VMs of a reservation or immediate lease have already
        :return: its new value, which is in the plan
        :raises NotPlannableError: there is no place; the plan is as it was
        """
        self.plan.pass_to(now)
        if lease.kind is LeaseKind.DEADLINE:
            context = self._for_offers if lease.is_offered else self.context
            return plan_deadline(context, lease, now, may_preempt=self.deadline_preemption)
        if start is None and lease.kind is LeaseKind.IMMEDIATE:
            return self._place_at_once(lease, now, present)
        if start is None:
            start = now if lease.request.start is None else lease.request.start
        return self._place_from(lease, start, now, present)

    def _place_at_once(self, lease: Lease, now: int, present: PresentHosts | None) -> Lease:
        """Where its image is; elsewhere only if that can be brought from now on (Sotomayor 2010, section 6.1)."""
        try:
            return self._place_from(lease, now, now, present)
        except NotPlannableError:
            images = self.plan.images
            later = None if images is None else start_after_transfer(images, lease.request)
            if later is None:
                raise
        return self._place_from(lease, later, now, present)

    def _place_from(self, lease: Lease, start: int, now: int, present: PresentHosts | None) -> Lease:
        """A reservation or immediate lease from an instant on, or as soon after it as others can be suspended."""
        if start < now:
            raise NotPlannableError(f"lease {lease.lease_id}: its start has passed")
        context = self._for_offers if lease.is_offered else self.context
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
        """A reservation or immediate lease from exactly this instant on."""
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
        """Give a pending reservation, immediate or deadline lease as many VMs as ``place`` has room for.

        The numbers of VMs in its terms are the most that it wants. How they are chosen is said at ``most_that_fits``.

        :param least: for each node set the fewest VMs that will do
        :return: its new value, which is in the plan; its terms have the numbers that it got
        :raises NotPlannableError: there is no place for the least; the plan is as it was
        """

        def fits(request: LeaseRequest) -> bool:
            try:
                with self.plan.trial():
                    self.place(replace(lease, request=request), now, start=start, present=present)
            except NotPlannableError:
                return False
            return True

        granted = most_that_fits(lease.request, least, fits)
        if granted is None:
            raise NotPlannableError(f"no place for the least that lease {lease.lease_id} wants")
        return self.place(replace(lease, request=granted), now, start=start, present=present)

    def enqueue(self, lease: Lease, reason: str = "") -> Lease:
        """Put a pending best-effort lease, or one whose suspension is over, into the queue."""
        suspended = lease.state in SUSPENDED_STATES
        state = LeaseState.SUSPENDED_QUEUED if suspended else LeaseState.QUEUED
        return self.plan.put(lease.to(state, reason=reason))

    def can_wait_with_place(self, now: int) -> bool:
        """Whether one more best-effort lease may get a place in the future (haizea F47)."""
        limit = self.options.backfilling_limit
        return limit is None or (limit > 0 and len(self.plan.future_best_effort(now)) < limit)

    def process_queue(self, now: int, agree: Agree | None = None) -> None:
        """Give every queued lease a place that can have one now, in the order of submission (haizea F46-F48).

        :param agree: asked before a lease gets its place; nobody is asked if there is none
        """
        if self.plan.queue_is_empty:
            return
        may_wait = self.can_wait_with_place(now)
        needed = self.plan.needed_by_whole_queue()
        if not may_wait and self.plan.availability.is_full(now, needed):
            return
        reach = QueueFilter(self.context, now)
        for lease in self.plan.queued():
            holding = None
            if may_wait or not reach.is_too_short(lease):
                holding = place_soonest(self.context, lease, now, may_wait=may_wait)
            if holding is not None:
                placed: Lease | None = with_place(lease, holding)
                if agree is not None and placed is not None:
                    placed = agree(placed)
                if placed is None:
                    continue
                self.plan.put(placed)
                may_wait = self.can_wait_with_place(now)
                if not may_wait and self.plan.availability.is_full(now, needed):
                    return
            elif self.options.backfilling_limit == 0:
                return

    # -- deviations from the plan ------------------------------------------------------------------------

    def use_freed_capacity(self, nodes: int, now: int, window_end: int, *, earliest: int | None = None) -> int:
        """Plan again what can profit from so many hosts being free in ``[now, window_end)``.

        :param earliest: nothing is planned to begin before this instant, ``now`` if none is given
        :return: how many leases got another place
        """
        self.plan.pass_to(now)
        first = now if earliest is None else max(now, earliest)
        return replan_waiting(self.context, first) + pull_deadline_leases(self.context, nodes, first, window_end)

    def place_rest(self, lease: Lease, now: int, *, earliest: int | None = None) -> Lease:
        """Plan what is left of a deadline lease once more, soonest first.

        :param earliest: it begins before this instant only if it would be too late for its deadline otherwise
        :raises NotPlannableError: it cannot be done by the deadline any more; the plan is as it was
        """
        self.plan.pass_to(now)
        soonest = max(now, lease.offered_until or 0)
        if earliest is not None and earliest > soonest:
            with suppress(NotPlannableError), self.plan.tentative():
                return plan_rest(self.context, lease, earliest)
        with self.plan.tentative():
            return plan_rest(self.context, lease, soonest)

    def sooner(self, lease: Lease, now: int, *, earliest: int | None = None) -> Lease:
        """An earlier place for a deadline lease of which nothing has begun, if there is one.

        :param earliest: it begins not before this instant, ``now`` if none is given
        :return: its value in the plan
        """
        first = now if earliest is None else max(now, earliest)
        pull(self.context, lease, first, lease.holdings[-1].end)
        return self.plan.leases[lease.lease_id]

    def release(self, lease: Lease) -> Lease:
        """Let a lease hold nothing any more, now or later."""
        return self.plan.put(replace(lease, holdings=()))
