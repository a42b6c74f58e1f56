"""The fewest hosts awake."""

from __future__ import annotations

from lease_scheduler.policy.power.base import PowerDecision, PowerPolicy, PowerView, Shortage


class Gesp(PowerPolicy):
    """Greedy energy-saving policy: wakes the fewest hosts that reservations need (Amini Salehi 2012, section 6.4.1).

    Best-effort leases are preempted first, and run only on hosts that are awake anyway, so they may wait for long.
    """

    def for_reservation(self, shortage: Shortage, view: PowerView) -> PowerDecision:
        """Wake what preemption does not give."""
        return PowerDecision(wake=shortage.after_preemption)

    def for_queue(self, view: PowerView) -> PowerDecision:
        """Wake nothing."""
        return PowerDecision()
