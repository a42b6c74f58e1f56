"""Hosts wake when leases have waited too long."""

from __future__ import annotations

from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.power.base import PowerDecision, PowerPolicy, PowerView, Shortage
from lease_scheduler.policy.power.options import waiting_factor


class Sesp(PowerPolicy):
    """Simple energy-saving policy: on demand, but generous once leases have waited too long.

    Amini Salehi 2012, section 6.4.1. While the mean waiting time is acceptable, reservations preempt best-effort leases
    and wake only the hosts that are missing then. Otherwise they preempt nothing, and hosts wake for leases that wait.

    Option: ``power_waiting_factor`` (5), the longest acceptable waiting time as a multiple of the mean duration.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._factor = waiting_factor(options)

    def for_reservation(self, shortage: Shortage, view: PowerView) -> PowerDecision:
        """Wake all that is missing if leases have waited too long, else what preemption does not give."""
        is_late = view.risk(self._factor) >= 1.0
        return PowerDecision(wake=shortage.missing if is_late else shortage.after_preemption)

    def for_queue(self, view: PowerView) -> PowerDecision:
        """Wake as many hosts as the longest-waiting lease asks for, if leases have waited too long."""
        first = view.longest_waiting
        return PowerDecision(wake=first.nodes if first is not None and view.risk(self._factor) >= 1.0 else 0)
