"""Follow-up of a change or an end of a lease: other leases use the capacity that became free."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.offers import Offers
from lease_scheduler.engine.state import EngineState
from lease_scheduler.engine.stepping import EngineSteps
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.changing.changing import Change


class FollowUp:
    """Follow-up of changes and ends of leases.

    :param state: state that the parts of the engine share
    :param offers: knows which leases are victims of which offers
    :param steps: plans waiting leases
    """

    def __init__(self, state: EngineState, offers: Offers, steps: EngineSteps) -> None:
        self._state = state
        self._offers = offers
        self._steps = steps

    def of_change(self, change: Change, now: int, *, replan: bool = True) -> Change:
        """Store a change, and let other leases use the capacity that became free.

        :param replan: whether leases that can profit from it are planned again; the queue is served in any case
        :return: the change, with the final value of the lease
        """
        if change.after is change.before:
            return change
        self._state.publish(now)
        if replan:
            self._use_freed(change.before, now)
        self._steps.serve_queue(now)
        return replace(change, after=self._state.lease(change.after.lease_id) or change.after)

    def of_end(self, lease: Lease, now: int) -> None:
        """Let other leases use the capacity of a lease that has ended.

        :param lease: the lease with its former holdings
        """
        self._use_freed(lease, now)
        self._steps.serve_queue(now)

    def _use_freed(self, lease: Lease, now: int) -> None:
        if not lease.holdings:
            return
        if lease.started is None:
            # The victims of a lease that had not started keep their places.
            self._offers.let_go_on(frozenset(host for each in lease.holdings for host in each.hosts), now)
        self._steps.use_freed(lease, now, max(holding.end for holding in lease.holdings))
