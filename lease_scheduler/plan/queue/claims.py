"""Claims: queued leases for which others are suspended, so that each project gets its share of the site.

Grit 2007, section 5.6.1 (shirako F105): a preempted lease waits beside the queues, is not charged again, and resumes
with the rest of its work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.earliest_fit import place_soonest
from lease_scheduler.plan.interfaces import Claim
from lease_scheduler.plan.options import RoomLead
from lease_scheduler.plan.placing.elastic import at_least
from lease_scheduler.plan.placing.exact_placement import exact_holding, hosts_with_room
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.preempting.displacing import make_room
from lease_scheduler.plan.preempting.preemption import instants_of_room
from lease_scheduler.plan.preempting.remaining_work import with_place


class ClaimedPlaces:
    """Places for the claims of one pass over the queue.

    :param context: what planning needs
    :param now: the instant of the pass
    :param agree: as for ``Planner.process_queue``
    """

    def __init__(self, context: PlanningContext, now: int, agree: Callable[[Lease], Lease | None] | None) -> None:
        # A lease that cannot be suspended in time stays, so nothing is lost.
        self._context = replace(context, options=replace(context.options, room_lead=RoomLead.STRICT))
        self._now = now
        self._agree = agree
        self._instants: tuple[tuple[int, int], list[int]] | None = None

    def place(self, claim: Claim) -> Lease | None:
        """Give the lease of a claim a place for which others are suspended, and return it, which is in the plan.

        It starts as soon as enough of the leases that the claim allows can be suspended without loss. It gets no place
        if

        * it would soon have one without any suspension;
        * too few leases can be suspended; or
        * the claim does not accept these leases.

        :return: None if it gets no place; the plan is as it was
        """
        context, now, turn = self._context, self._now, claim.turn
        request = at_least(turn.lease.request)
        lease = replace(turn.lease, request=request)
        if place_soonest(context, lease, now, may_wait=True, latest_start=turn.latest_start) is not None:
            return None
        context = replace(context, preemption=claim.victims)
        duration = request.duration + context.suspension.shutdown_time(request)
        for start in self._starts(now + duration if turn.latest_start is None else turn.latest_start):
            victims = _in_the_way(context, lease, start, start + duration, now)
            if victims is None:
                continue
            assignment, in_the_way = victims
            holding = exact_holding(context, request, assignment, start)
            if not claim.is_fair(in_the_way) or not turn.allows(holding):
                continue
            placed = with_place(lease, holding)
            agreed = placed if self._agree is None else self._agree(placed)
            if agreed is None:
                return None
            with context.plan.tentative():
                make_room(context, in_the_way, start, start + duration, now)
                return context.plan.put(agreed)
        return None

    def _starts(self, latest: int) -> list[int]:
        """Return the instants to try. They are the same for all claims until one of them gets a place."""
        state = self._context.plan.puts, latest
        if self._instants is None or self._instants[0] != state:
            self._instants = state, instants_of_room(self._context, self._now, latest + 1, self._now)
        return self._instants[1]


def _in_the_way(
    context: PlanningContext, lease: Lease, start: int, end: int, now: int
) -> tuple[tuple[int, ...], tuple[Lease, ...]] | None:
    """Return hosts for a lease and the leases to suspend for it, or None if there are none."""
    try:
        return hosts_with_room(context, lease.request, start, end, now, may_preempt=True)
    except NotPlannableError:
        return None
