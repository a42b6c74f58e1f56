"""The highest rate of each project: an upper bound for the other policies."""

from __future__ import annotations

from lease_scheduler.policy.pricing.constant import Constant


class Maximum(Constant):
    """Charges each project its own highest rate, so that no quote is declined (MAXIMUM of Sotomayor 2010, section 8.2).

    For simulations, where the workload says what projects would pay (haizea F77). A project without such a rate is
    charged ``pricing_rate`` (1.00).
    """

    needs_users_rates = True

    def rate(self, user: str | None, highest: float | None) -> float:
        """See ``PricingPolicy.rate``."""
        return super().rate(user, highest) if highest is None else highest
