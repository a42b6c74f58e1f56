"""No prices: the default."""

from __future__ import annotations

from lease_scheduler.policy.pricing.base import PricingPolicy


class Free(PricingPolicy):
    """Gives leases no prices (haizea F37, ``free``)."""

    charges = False

    def rate(self, user: str | None, highest: float | None) -> float:
        """See ``PricingPolicy.rate``."""
        return 0.0
