"""Leases that are held for their consumers until these accept them (haizea F8, section 7.2)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.prices import Prices
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.reservation import Closing
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.early_end import go_on
from lease_scheduler.plan.plan import NotPlannableError

EXPIRED = "its quote has expired"

#: Kinds whose place is known when they are asked for, and may lie ahead.
_KINDS = (LeaseKind.RESERVATION, LeaseKind.DEADLINE)


def offer_end(request: LeaseRequest, now: int, lifetime: int) -> int:
    """Until when a lease can be held: at most for the lifetime, and as long as it need not have begun.

    :raises InvalidValueError: leases of that kind cannot be held, or it would have to begin at once
    """
    if request.kind not in _KINDS:
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
            reservation.run_end
            for before, after in self._state.planner.plan.changes()
            if before is not None
            for reservation in after.reservations
            if reservation.closing is not Closing.SHUTDOWN and reservation not in before.reservations
        ]
        until = min([placed.offered_until, *cuts])
        if until <= now:
            raise NotPlannableError(f"others would have to make room for lease {placed.lease_id} before it is accepted")
        return replace(placed, offered_until=until)

    def accept(self, lease: Lease, now: int) -> Lease:
        """The consumer wants it: from now on it is a lease as any other.

        :return: its new value, which is in the plan
        """
        self._prices.answered(lease, accepted=True)
        taken = self._state.put(replace(lease, offered_until=None, reason="its quote was accepted"))
        if lease.kind is LeaseKind.DEADLINE:
            # It was planned for after the end of the offer, which it need not wait for any more.
            taken = self._state.planner.sooner(taken, now)
        return taken

    def turn_down(self, lease: Lease, now: int, reason: str) -> None:
        """The consumer does not want it, or has not said so in time; others may use its place."""
        state, held = self._state, lease.reservations
        self._prices.answered(lease, accepted=False)
        state.finish(lease, LeaseState.REJECTED_BY_USER, now, reason)
        if held:
            self._go_on(frozenset(host for each in held for host in each.assignment), now)
            moved = state.planner.use_freed_capacity(lease.request.node_count, now, max(r.end for r in held))
            state.recorder.count("replans", moved)

    def _go_on(self, hosts: frozenset[int], now: int) -> None:
        """Leases that run on these hosts and were to make room need not any more."""
        state, plan = self._state, self._state.planner.plan
        for lease in sorted(plan.leases.values(), key=lambda each: each.sequence):
            on_them = bool(lease.reservations) and not hosts.isdisjoint(lease.reservations[0].assignment)
            if on_them and lease.lease_id not in state.operations:
                go_on(state.planner.context, lease, now)
