"""Shares of what leases cost in money: the policy ``budget`` (Grit 2007, section 5.6.4; shirako F110, F111)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.queueing.winks.claims import PreemptionOptions
from lease_scheduler.policy.queueing.winks.policy import Winks
from lease_scheduler.policy.queueing.winks.shares import ShareLimit, WinksOptions

#: Prices are counted in this part of the unit of money.
_PARTS = 10_000


class Budget(Winks):
    """Gives each flow its share of what all of them spend: the cost of a lease is its price.

    Before a lease has a price, it is estimated with the rate ``budget_rate`` per node-hour. There is no window: leases
    start at once or wait.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._rate = options.number("budget_rate", 1.0)

    def _winks_options(self, options: PolicyOptions) -> WinksOptions:
        return replace(super()._winks_options(options), window=0, limit=ShareLimit.NONE)

    def _preemption_options(self, options: PolicyOptions) -> PreemptionOptions:
        # Shares of money do not say which flow holds too many hosts at present.
        return PreemptionOptions()

    def _cost(self, lease: Lease, seconds: int) -> int:
        if lease.grant.price is not None:
            return round(lease.grant.price * _PARTS * seconds / self._seconds(lease.request))
        return round(lease.request.charged_nodes * seconds / 3_600 * self._rate * _PARTS)
