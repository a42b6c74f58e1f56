"""What every user would just pay: a bound for the others."""

from __future__ import annotations

from lease_scheduler.policy.pricing.constant import Constant


class Maximum(Constant):
    """Everybody's own highest rate, so that nobody turns a quote down (MAXIMUM of Sotomayor 2010, section 8.2).

    For simulations, where the workload says what users would pay (haizea F77). Who has no such rate is charged
    ``pricing_rate`` (1.00).
    """

    needs_users_rates = True

    def rate(self, user: str | None, highest: float | None) -> float:
        """See ``PricingPolicy.rate``."""
        return super().rate(user, highest) if highest is None else highest
