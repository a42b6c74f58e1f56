"""Briefing of policies on the present leases and hosts, when an engine takes over and before outcomes."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease


class Briefing:
    """Briefing of the policies that follow leases and hosts.

    :param state: state that the parts of the engine share
    :param forecasts: forecasts when leases start; None to forecast nothing
    """

    def __init__(self, state: EngineState, forecasts: Forecasts | None) -> None:
        self._state = state
        self._forecasts = forecasts

    def of_hosts(self) -> None:
        """Tell policies about the present hosts."""
        planner, policies = self._state.planner, self._state.policies
        planner.brief_queueing()
        policies.assurance.follow(planner.plan.site)
        policies.power.follow(planner.plan.site)

    def of_leases(self, leases: Sequence[Lease], now: int) -> None:
        """Tell policies that are new or have been restored about the present hosts and live leases."""
        planner, policies = self._state.planner, self._state.policies
        policies.assurance.follow(planner.plan.site)
        policies.power.follow(planner.plan.site)
        policies.assurance.take_over(leases, now)
        if self._forecasts is not None:
            self._forecasts.take_over(leases, now)
        planner.brief_queueing()
        look_again = policies.queueing.take_over(leases, now)
        if look_again is not None:
            planner.look_again = look_again
