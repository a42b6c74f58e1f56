"""A constant rate."""

from __future__ import annotations

from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.pricing.base import PricingPolicy


class Constant(PricingPolicy):
    """Charges all projects the same rate (CONSTANT of Sotomayor 2010, section 8.2; haizea F79).

    Option: ``pricing_rate`` (1.00). The dissertation does not say which rate it used.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._rate = options.number("pricing_rate", 1.0)

    def rate(self, user: str | None, highest: float | None) -> float:
        """See ``PricingPolicy.rate``."""
        return self._rate
