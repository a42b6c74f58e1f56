"""Offers: leases that are held until their projects accept them (haizea F8), or until they are approved."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.prices import Prices, PriceTooHighError, with_max_price
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.approval import Approval
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import UNANSWERED
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.early_end import back_sooner, go_on
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.plan.explaining.quote import refusal_of
from lease_scheduler.plan.fitting.count_ranges import with_ranges
from lease_scheduler.plan.fitting.largest_fit import with_counts
from lease_scheduler.plan.plan import NotPlannableError

EXPIRED = "its quote has expired"
UNDECIDED = "nobody approved it in time"


def offer_end(request: LeaseRequest, now: int, lifetime: int) -> int:
    """Return the instant until which a lease can be held: the end of the lifetime, but not after its latest start.

    A reservation whose start has come may start late, but still ends at its end.

    :param lifetime: maximum number of seconds
    :raises InvalidValueError: the lease would have to start at once
    """
    if request.start is None:
        return now + lifetime
    if request.deadline is not None:
        latest, field = request.deadline - request.duration, "deadline"
    elif request.start > now:
        latest, field = request.start, "start"
    else:
        latest, field = request.start + request.duration - 1, "end"
    if latest <= now:
        raise InvalidValueError(
            field, "the lease would have to start at once; an offer must start later, as it has to be accepted first"
        )
    return min(now + lifetime, latest)


def started_now(lease: Lease, now: int) -> Lease:
    """Return an accepted offer with a holding that begins now if its start has come, and else as it is.

    An immediate lease gets its whole duration, a reservation what is left until its end. Deadline leases may start
    later, and are planned again instead.
    """
    request = lease.request
    if not lease.kind.promises_interval or (request.start is not None and request.start >= now):
        return lease
    (held,) = lease.holdings
    start = max(now, held.start)
    if request.start is not None:
        terms = replace(request, start=start, duration=held.run_end - start)
        return replace(lease, request=terms, holdings=(replace(held, start=start, run_start=start),))
    run_end = start + request.duration
    end = run_end + held.end - held.run_end
    return replace(lease, holdings=(replace(held, start=start, run_start=start, run_end=run_end, end=end),))


class Offers:
    """Life of offers, and of leases that await approval.

    An offer has its place in the plan as if it were accepted, but does not start. It is neither preempted nor moved for
    better use of hosts, and loses its place only if hosts fail or are cleared. A lease that could start at once has its
    hosts from now on until its end if it is accepted in the last second. A best-effort lease has no place: when it is
    accepted, it enters the queue, at the position that it was submitted at.

    :param state: state that the parts of the engine share
    :param prices: learns which offers projects accept and decline
    """

    def __init__(self, state: EngineState, prices: Prices) -> None:
        self._state = state
        self._prices = prices

    def before_room_is_made(self, placed: Lease, now: int) -> Lease:
        """Return an offer that was just placed, with an end before its first victim is preempted.

        All changes in the plan since the last ``take_changes`` are assumed to be made for the offer.

        :raises NotPlannableError: a victim would have to be preempted at once
        """
        if placed.offered_until is None:
            return placed
        cuts = [
            holding.run_end
            for before, after in self._state.planner.plan.changes()
            if before is not None
            for holding in after.holdings
            if holding.closing is not Closing.SHUTDOWN and holding not in before.holdings
        ]
        until = min([placed.offered_until, *cuts])
        if until <= now:
            raise NotPlannableError(
                f"other leases would have to make room for lease {placed.lease_id} before it is accepted"
            )
        return replace(placed, offered_until=until)

    def exchange(self, lease: Lease, terms: LeaseRequest, now: int, least: tuple[int, ...] | None) -> Lease:
        """Give an offer other terms.

        It gets a new price, and ends no later than before, so that counter-offers cannot hold hosts for longer.

        :param least: as in ``Engine.submit``
        :return: its new value, which is in the plan
        :raises NoPlaceError: there is no place, or the price is above ``max_price``; the offer is unchanged
        :raises InvalidValueError: the lease would have to start at once
        """
        state, plan = self._state, self._state.planner.plan
        assert lease.offered_until is not None
        asked = with_max_price(lease, terms)
        until = offer_end(asked, now, lease.offered_until - now)
        try:
            with plan.tentative():
                pending = lease if lease.state is LeaseState.PENDING else lease.to(LeaseState.PENDING)
                loose = replace(pending, request=asked, holdings=(), offered_until=until, grant=UNANSWERED)
                plan.put(loose)
                placed = state.put(self._placed(loose, now, least))
                if self._prices.are_asked:
                    placed = state.put(self._prices.agree(placed, negotiating=True))
        except PriceTooHighError as error:
            raise NoPlaceError(Refusal(RefusalReason.PRICE, str(error))) from error
        except NotPlannableError as error:
            smallest = asked if least is None else with_counts(asked, least)
            with plan.trial():
                plan.put(replace(lease, holdings=()))
                refusal = refusal_of(state.planner, smallest, now, error, may_preempt=False)
            raise NoPlaceError(refusal) from error
        return placed

    def _placed(self, loose: Lease, now: int, least: tuple[int, ...] | None) -> Lease:
        """Return an offer with the place that it gets; a best-effort lease gets none before it is accepted.

        :raises NotPlannableError: there is no place
        """
        planner = self._state.planner
        if loose.kind is LeaseKind.BEST_EFFORT:
            return loose if least is None else replace(loose, request=with_ranges(loose.request, least))
        placed = planner.place(loose, now) if least is None else planner.place_most(loose, least, now)
        return self.before_room_is_made(placed, now)

    def accept(self, lease: Lease, now: int) -> Lease:
        """Turn an offer that its project accepts into an ordinary lease, and withdraw the others of the negotiation.

        :return: its new value, which is in the plan
        """
        self._prices.answered(lease, accepted=True)
        for other in self._others(lease):
            self._free(other, now, f"lease {lease.lease_id} was accepted instead")
        return self._taken(replace(lease, reason="its quote was accepted"), now)

    def approve(self, lease: Lease, now: int, reason: str) -> Lease:
        """Turn a lease that awaits approval into an ordinary lease.

        :return: its new value, which is in the plan
        """
        self._prices.answered(lease, accepted=True)
        return self._taken(replace(lease, approval=Approval.APPROVED, reason=reason), now)

    def _taken(self, lease: Lease, now: int) -> Lease:
        taken = self._state.put(started_now(replace(lease, offered_until=None), now))
        if lease.kind is LeaseKind.BEST_EFFORT:
            return self._state.planner.enqueue(taken)
        if lease.kind is LeaseKind.DEADLINE:
            # It was planned to start after the end of the offer, and need not wait for that any more.
            taken = self._state.planner.sooner(taken, now, earliest=self._state.earliest(now))
        return taken

    def turn_down(self, lease: Lease, now: int, reason: str) -> None:
        """End an offer that its project declines or has not accepted in time; other leases may use its place.

        The pricing policy learns only from the last open offer of a negotiation, because Haizea's policy learns once
        from each requested lease. It learns nothing from a lease that awaits approval, whose price was accepted.
        """
        if not lease.awaits_approval and not self._others(lease):
            self._prices.answered(lease, accepted=False)
        self._free(lease, now, reason)

    def decline(self, lease: Lease, now: int, reason: str) -> None:
        """End a lease whose approval is declined; other leases may use its place."""
        self._free(replace(lease, approval=Approval.DECLINED), now, reason)

    def expire(self, lease: Lease, now: int) -> None:
        """End a lease whose offer or time for approval is over; other leases may use its place."""
        if lease.awaits_approval:
            self._free(replace(lease, approval=Approval.EXPIRED), now, UNDECIDED)
        else:
            self.turn_down(lease, now, EXPIRED)

    def _others(self, lease: Lease) -> list[Lease]:
        """Return the other open offers of the same negotiation, in the order in which they were made."""
        if lease.negotiation is None:
            return []
        live = self._state.planner.plan.leases.values()
        others = [
            each
            for each in live
            if each.negotiation == lease.negotiation and each.is_offered and each.lease_id != lease.lease_id
        ]
        return sorted(others, key=lambda each: each.sequence)

    def _free(self, lease: Lease, now: int, reason: str) -> None:
        state, held = self._state, lease.holdings
        # A lease that is not approved was not declined by its project, so it counts as cancelled.
        is_offer = lease.approval in (None, Approval.APPROVED)
        over = LeaseState.REJECTED_BY_USER if is_offer else LeaseState.CANCELLED
        state.finish(lease, over, now, reason)
        if held:
            self.let_go_on(frozenset(host for each in held for host in each.assignment), now)
            moved = state.use_freed(lease.request.node_count, now, max(r.end for r in held))
            state.recorder.count("replans", moved)

    def let_go_on(self, hosts: frozenset[int], now: int) -> None:
        """Let the victims of a lease that is gone keep their hosts.

        Running leases continue. Deadline leases that are suspended or being suspended resume earlier.

        :param hosts: hosts that the lease held
        """
        state, plan = self._state, self._state.planner.plan
        for lease in sorted(plan.leases.values(), key=lambda each: each.sequence):
            on_them = bool(lease.holdings) and not hosts.isdisjoint(lease.holdings[0].assignment)
            is_busy = lease.lease_id in state.runs.operating
            if on_them and not is_busy and go_on(state.planner.context, lease, now):
                continue
            if not is_busy or lease.state is LeaseState.SUSPENDING:
                back_sooner(state.planner.context, lease, now, state.earliest(now))
