"""Earliest places for leases of the queue when it is their turn."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.earliest_fit import place_soonest
from lease_scheduler.plan.interfaces import Turn


@dataclass(frozen=True)
class _Foreseen:
    """The earliest place of a lease, and the state in which it was found."""

    context: PlanningContext
    availability: Availability
    lease: Lease
    now: int
    holding: Holding


class TurnPlaces:
    """Search for the earliest place of a lease, with a cache of the last one that was foreseen.

    Whether a lease may enter the queue can depend on its earliest place. When its turn comes right after that, the
    place is not looked for again, provided that nothing has changed in between.

    :param remembers: whether a foreseen place may be used; where images are transferred, it depends on transfers too
    """

    def __init__(self, *, remembers: bool) -> None:
        self._remembers = remembers
        self._foreseen: _Foreseen | None = None

    def foresee(self, context: PlanningContext, lease: Lease, now: int) -> Holding | None:
        """Return the earliest place of a lease that is about to enter the queue, or None."""
        # Most often the lease can start at once, which is cheaper to find.
        holding = place_soonest(context, lease, now, may_wait=False) if self._remembers else None
        if holding is None:
            holding = place_soonest(context, lease, now, may_wait=True)
        if holding is not None and self._remembers:
            self._foreseen = _Foreseen(context, context.plan.availability, lease, now, holding)
        return holding

    def forget(self) -> None:
        """Forget what was foreseen: time passes, or policies learn."""
        self._foreseen = None

    def place(self, context: PlanningContext, turn: Turn, now: int, *, waits: bool) -> Holding | None:
        """Return the earliest place within the limits of a turn, or None.

        :param waits: whether the lease may start later
        """
        latest = turn.latest_start if waits else None
        holding = self._known(context, turn.lease, now)
        if holding is None or not (waits or holding.start == now) or (latest is not None and holding.start > latest):
            holding = place_soonest(context, turn.lease, now, may_wait=waits, latest_start=latest)
        return holding if holding is not None and turn.allows(holding) else None

    def _known(self, context: PlanningContext, lease: Lease, now: int) -> Holding | None:
        known = self._foreseen
        if known is None or known.lease.request is not lease.request or lease.saved_on is not None:
            return None
        is_same = known.context is context and known.availability is context.plan.availability and known.now == now
        return known.holding if is_same and known.lease.remaining == lease.remaining else None
