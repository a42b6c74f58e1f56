"""Leases that are held for their consumers until these accept them (haizea F8, section 7.2)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.prices import Prices, PriceTooHighError, too_high
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.early_end import back_sooner, go_on
from lease_scheduler.plan.explain import NoPlaceError, Refusal
from lease_scheduler.plan.largest_fit import with_counts
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.quote import refusal_of

EXPIRED = "its quote has expired"


def offer_end(request: LeaseRequest, now: int, lifetime: int) -> int:
    """Until when a lease can be held: at most for the lifetime, and as long as it need not have begun.

    :raises InvalidValueError: leases of that kind cannot be held, or it would have to begin at once
    """
    if not request.kind.may_be_held:
        raise InvalidValueError("kind", f"a {request.kind.value} lease cannot be held; a reservation or deadline can")
    assert request.start is not None
    if request.deadline is None:
        latest, field = request.start, "start"
    else:
        latest, field = request.deadline - request.duration, "deadline"
    if latest <= now:
        raise InvalidValueError(
            field, "the lease would have to begin at once; one that is held needs time to be accepted"
        )
    return min(now + lifetime, latest)


class Offers:
    """What becomes of leases that are held.

    The place of such a lease is in the plan as if it had been accepted, and beyond that nobody preempts it or moves it
    for better use; it makes way only where hosts fail or are cleared. Nothing of it begins.

    :param state: what the parts of the engine share
    :param prices: is told what consumers say
    """

    def __init__(self, state: EngineState, prices: Prices) -> None:
        self._state = state
        self._prices = prices

    def before_room_is_made(self, placed: Lease, now: int) -> Lease:
        """A lease that has just been given its place, held only until others have to begin to make room for it.

        What changed in the plan since the last time is taken to make room for the lease.

        :raises NotPlannableError: they would have to begin at once
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
            raise NotPlannableError(f"others would have to make room for lease {placed.lease_id} before it is accepted")
        return replace(placed, offered_until=until)

    def exchange(self, lease: Lease, terms: LeaseRequest, now: int, least: tuple[int, ...] | None) -> Lease:
        """Another offer in place of this one, which its consumer would rather have.

        It is priced anew and ends when the first one would have, so that nobody holds hosts for longer by asking.

        :param least: as in ``Engine.submit``
        :return: its new value, which is in the plan
        :raises NoPlaceError: it cannot be had, or costs more than its consumer would pay; the offer is as it was
        :raises InvalidValueError: the lease would have to begin at once
        """
        state, plan = self._state, self._state.planner.plan
        assert lease.offered_until is not None
        max_price = lease.request.max_price if terms.max_price is None else terms.max_price
        asked = replace(terms, price=None, retained=0.0, max_price=max_price)
        until = offer_end(asked, now, lease.offered_until - now)
        try:
            with plan.tentative():
                loose = replace(lease.to(LeaseState.PENDING), request=asked, holdings=(), offered_until=until)
                plan.put(loose)
                if least is None:
                    placed = state.planner.place(loose, now)
                else:
                    placed = state.planner.place_most(loose, least, now)
                placed = state.put(self.before_room_is_made(placed, now))
                if self._prices.are_asked:
                    placed = state.put(self._prices.agree(placed, negotiating=True))
        except PriceTooHighError as error:
            raise NoPlaceError(Refusal("price", too_high(error.request))) from error
        except NotPlannableError as error:
            smallest = asked if least is None else with_counts(asked, least)
            with plan.trial():
                plan.put(replace(lease, holdings=()))
                refusal = refusal_of(state.planner, smallest, now, error, may_preempt=False)
            raise NoPlaceError(refusal) from error
        return placed

    def accept(self, lease: Lease, now: int) -> Lease:
        """The consumer wants it: from now on it is a lease as any other, and what else he was offered is withdrawn.

        :return: its new value, which is in the plan
        """
        self._prices.answered(lease, accepted=True)
        for other in self._others(lease):
            self._free(other, now, f"lease {lease.lease_id} was accepted instead")
        taken = self._state.put(replace(lease, offered_until=None, reason="its quote was accepted"))
        if lease.kind is LeaseKind.DEADLINE:
            # It was planned for after the end of the offer, which it need not wait for any more.
            taken = self._state.planner.sooner(taken, now, earliest=self._state.earliest(now))
        return taken

    def turn_down(self, lease: Lease, now: int, reason: str) -> None:
        """The consumer does not want it, or has not said so in time; others may use its place.

        Of several offers of one negotiation he has turned down the price with the last one only: Haizea's policy learns
        once from every lease that was asked for (haizea 4.17).
        """
        if not self._others(lease):
            self._prices.answered(lease, accepted=False)
        self._free(lease, now, reason)

    def _others(self, lease: Lease) -> list[Lease]:
        """The other offers of the same negotiation that are still open, in the order in which they were made."""
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
        state.finish(lease, LeaseState.REJECTED_BY_USER, now, reason)
        if held:
            self.let_go_on(frozenset(host for each in held for host in each.assignment), now)
            moved = state.use_freed(lease.request.node_count, now, max(r.end for r in held))
            state.recorder.count("replans", moved)

    def let_go_on(self, hosts: frozenset[int], now: int) -> None:
        """Leases that were to make room on these hosts for one that is not there any more need not.

        Those that run go on. Deadline leases that are suspended already, or being suspended, come back sooner.
        """
        state, plan = self._state, self._state.planner.plan
        for lease in sorted(plan.leases.values(), key=lambda each: each.sequence):
            on_them = bool(lease.holdings) and not hosts.isdisjoint(lease.holdings[0].assignment)
            is_busy = lease.lease_id in state.operations
            if on_them and not is_busy and go_on(state.planner.context, lease, now):
                continue
            if not is_busy or lease.state is LeaseState.SUSPENDING:
                back_sooner(state.planner.context, lease, now, state.earliest(now))
