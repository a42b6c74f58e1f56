"""The interface of pricing policies (haizea F37, F78; Sotomayor 2010, section 8)."""

from __future__ import annotations

from abc import abstractmethod

from lease_scheduler.policy.base import Policy, PolicyOptions


class PricingPolicy(Policy):
    """Says at which rate leases are offered. A lease costs its node-hours times the rate.

    Option of all of them: ``pricing_surcharge`` (0). Node-hours that suspending and resuming others costs count that
    many times; 1 is what Haizea's program does, the dissertation leaves it out (haizea F81).

    :param options: what the operator set for policies
    :cvar charges: whether leases have prices at all
    :cvar needs_users_rates: whether it only works where it is known beforehand what users would pay, as in simulations
    :ivar surcharge: the option
    """

    charges = True
    needs_users_rates = False

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self.surcharge = options.number("pricing_surcharge", 0.0)

    @abstractmethod
    def rate(self, user: str | None, highest: float | None) -> float:
        """Money per node and hour; the same until something is ``quoted`` or ``answered``.

        :param user: who asks, none if that is not known
        :param highest: the most that he would pay, none if that is not known
        """

    def quoted(self) -> None:
        """A lease has been offered at the rate."""

    def answered(self, user: str | None, rate: float, *, accepted: bool) -> None:
        """A user has taken or turned down a lease at a rate."""
