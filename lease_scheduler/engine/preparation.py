"""Preparation: nodes of reservations and deadline leases are booted ahead, so that they run at the start."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState


class Preparation:
    """Booting of nodes some time before the start of their lease, if its hosts are free then.

    This time is not promised: another lease that has the hosts keeps them until the start, and the nodes then boot
    late. To have victims suspended in time, set ``PlanningOptions.suspend_buffer`` to at least this time.

    :param state: state that the parts of the engine share
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state

    def next_due(self) -> int | None:
        """Return the next instant at which nodes may be booted ahead, or None."""
        while (entry := self._state.preparations.first()) is not None:
            instant, _, lease_id = entry
            if self._waiting(lease_id, instant) is not None:
                return instant
            self._state.preparations.drop_first()
        return None

    def prepare(self, now: int) -> None:
        """Boot the nodes of each lease whose time has come and whose hosts are free."""
        state = self._state
        while (entry := state.preparations.pop(now)) is not None:
            instant, what, lease_id = entry
            lease = self._waiting(lease_id, instant)
            if lease is None or lease.holdings[0].run_start <= now:
                continue
            first = lease.holdings[0]
            if not state.planner.plan.has_room(lease, now, first.run_start):
                state.preparations.push(lease, (state.next_preparation(lease, now), what))
                continue
            ready = lease if lease.state is LeaseState.READY else lease.to(LeaseState.READY)
            prepared = state.put(replace(ready, holdings=(replace(first, start=now), *lease.holdings[1:])))
            state.begin(OperationKind.START, prepared, first.run_start, now)
            state.publish(now)

    def _waiting(self, lease_id: str, instant: int) -> Lease | None:
        """Return the lease of an entry, or None if the entry is stale."""
        lease = self._state.lease(lease_id)
        if lease is None or not self._state.waits_for_preparation(lease):
            return None
        is_one_of_its = self._state.next_preparation(lease, instant - 1) == instant
        return lease if is_one_of_its and instant < lease.holdings[0].run_start else None
