"""What policies that follow leases and hosts are told when an engine takes over, and before outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.assurance.base import AssurancePolicy


class Briefing:
    """Tells policies what they follow.

    :param state: state that the parts of the engine share
    :param assurance: decides for how long leases are promised to run
    :param forecasts: tells by when leases start; None to tell nothing
    """

    def __init__(self, state: EngineState, assurance: AssurancePolicy, forecasts: Forecasts | None) -> None:
        self._state = state
        self._assurance = assurance
        self._forecasts = forecasts

    def of_hosts(self) -> None:
        """Tell policies of the present hosts."""
        planner = self._state.planner
        planner.brief_queueing()
        self._assurance.follow(planner.plan.site)
        self._state.power_policy.follow(planner.plan.site)

    def of_leases(self, leases: Sequence[Lease], now: int) -> None:
        """Tell policies of the live leases, because the policies are new or have been restored."""
        planner = self._state.planner
        self._assurance.follow(planner.plan.site)
        self._state.power_policy.follow(planner.plan.site)
        self._assurance.take_over(leases, now)
        if self._forecasts is not None:
            self._forecasts.take_over(leases, now)
        planner.brief_queueing()
        look_again = planner.queueing.take_over(leases, now)
        if look_again is not None:
            planner.look_again = look_again
