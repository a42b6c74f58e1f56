"""Instants at which a policy decides where fluid leases run (Stillwell 2010, section 5.2.4).

It decides when such a lease arrives or ends, when hosts have more free capacity for them, and periodically, but at most
once a second. Its input follows from the leases, so an engine that takes over decides as the one before it would have.
"""

from __future__ import annotations

from lease_scheduler.engine.fractional_places import Agree, carry_out
from lease_scheduler.engine.fractional_view import can_be_placed, present_room, view_of
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.policy.fractional.base import FractionalPolicy, Occasion


class FluidDecisions:
    """Decisions of the fractional policy on where fluid leases run, which the plan follows.

    :param state: state that the parts of the engine share
    :ivar known: ids of the leases that the latest decision considered
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self.known: frozenset[str] = frozenset()
        # Instant of the latest decision, and of the next periodic one.
        self._decided_at: int | None = None
        self._decides_at: int | None = None
        # ``present_room`` at the end of the latest step.
        self._last_free: tuple[IntArray, IntArray] | None = None

    @property
    def _policy(self) -> FractionalPolicy:
        return self._state.policies.fractional

    def next_due(self) -> int | None:
        """Return the next instant at which to decide, or None."""
        if not self._policy.places:
            return None
        if self._live() != self.known:
            return 0 if self._decided_at is None else self._decided_at + 1
        return self._decides_at

    def restore(self, now: int) -> None:
        """Take over from an engine that has stopped, with the live leases in the plan."""
        self.set_apart()
        if not self._policy.places:
            return
        self.known = self._live()
        if self.known:
            self._decides_at = self._next_period(now + 1)
        self.look(now)

    def decide(self, now: int, agree: Agree | None) -> bool:
        """Decide if there is a reason to, and return whether there was.

        :param agree: called before a lease gets its first place; None if no agreement is needed
        """
        live = self._live() if self._policy.places else frozenset()
        if not live and not self.known:
            self._decides_at = None
            return False
        if not self.known:
            # While there were no leases, periods were not counted.
            self._decides_at = self._next_period(now)
        is_period = self._decides_at is not None and self._decides_at <= now
        if self._decided_at == now:
            return False
        has_more_free, others_left = self._free_has_grown(now)
        if not (is_period or live != self.known or has_more_free):
            return False
        with self._state.only_awake(now):
            view = view_of(self._state, now, self._policy.horizon)
            new = live - self.known
            submitted = sum(lease.lease_id in new for lease in view.leases)
            # Remapping algorithms need not know which lease left.
            has_ended = others_left or not self.known <= live
            occasion = Occasion(now, submitted, has_ended, is_period)
            if view.leases:
                carry_out(self._state, view.leases, self._policy.hosts(view.fluid, occasion), now, agree)
        self.known, self._decided_at = live, now
        self._decides_at = self._next_period(now + 1) if live else None
        return True

    def look(self, now: int) -> None:
        """Remember the free capacity of hosts for these leases; called at the end of a step.

        More free capacity at the next step is a reason to decide. Capacity that a decision itself has freed is not,
        because it is already remembered here.
        """
        self._last_free = present_room(self._state, now) if self.known else None

    def set_apart(self) -> None:
        """Keep the planner from placing the leases that the policy places; called before anything is planned."""
        plan = self._state.planner.plan
        plan.queue.set_apart(self._is_apart if self._policy.places else None, plan.leases.values())

    def _is_apart(self, request: LeaseRequest) -> bool:
        return can_be_placed(self._state, request)

    def _live(self) -> frozenset[str]:
        """Return the ids of the live leases that the policy places."""
        plan = self._state.planner.plan
        return frozenset(lease_id for lease_id in self._state.runs.fluid if lease_id in plan.queue.apart)

    def _next_period(self, earliest: int) -> int | None:
        """Return the first multiple of the policy's period at or after an instant, or None if it has no period."""
        period = self._policy.period
        return None if period is None else -(-earliest // period) * period

    def _free_has_grown(self, now: int) -> tuple[bool, bool]:
        """Return whether a host has more free capacity for these leases than at the end of the latest step.

        :return: whether it has, and whether it has because other leases hold less
        """
        if self._last_free is None:
            return False, False
        free, left = (
            after.shape != before.shape or bool((after > before).any())
            for before, after in zip(self._last_free, present_room(self._state, now), strict=True)
        )
        return free, left
