"""No host goes to sleep by itself."""

from __future__ import annotations

from lease_scheduler.policy.power.base import PowerDecision, PowerPolicy, PowerView, Shortage


class NoPower(PowerPolicy):
    """Lets hosts sleep only if an operator says so. They wake when a lease needs them."""

    manages = False

    def for_reservation(self, shortage: Shortage, view: PowerView) -> PowerDecision:
        """Wake what is missing: no lease is preempted because a host sleeps."""
        return PowerDecision(wake=shortage.missing)

    def for_queue(self, view: PowerView) -> PowerDecision:
        """Do nothing: leases that wait are planned on sleeping hosts too, which wake in time."""
        return PowerDecision()
