"""The interface of pricing policies (haizea F37, F78; Sotomayor 2010, section 8)."""

from __future__ import annotations

from abc import abstractmethod

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.base import Policy, PolicyOptions


class PricingPolicy(Policy):
    """Computes the rate at which leases are offered. The price of a lease is its node-hours times rate and factor.

    All of them have the options ``pricing_factor_KIND`` and ``pricing_factor_MODE`` (1): factors of the rate for leases
    of a kind, and for leases that may be preempted in a mode. So a more flexible request can be cheaper (Amini Salehi
    2012, section 3.2.1; contention F8, which leaves the figures open).

    All of them have the option ``pricing_surcharge`` (0): the factor by which a lease is charged for the node-hours in
    which other leases are suspended and resumed for it. Haizea's program uses 1; the dissertation leaves the surcharge
    out (haizea F81).

    :param options: what the operator set for policies
    :cvar charges: whether leases have prices at all
    :cvar needs_users_rates: whether the policy must know in advance what users would pay, as only simulations do
    :ivar surcharge: value of the option
    """

    charges = True
    needs_users_rates = False

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self.surcharge = options.number("pricing_surcharge", 0.0)
        self._factors = {
            each: _factor(options, f"pricing_factor_{each.value.replace('-', '_')}")
            for each in (*LeaseKind, *PreemptionMode)
            if each is not PreemptionMode.NONE
        }

    def factor(self, request: LeaseRequest) -> float:
        """Return the factor of the rate for a request, more than 0."""
        of_kind = self._factors[request.kind]
        return of_kind * self._factors[request.preemption_mode] if request.may_be_preempted else of_kind

    @abstractmethod
    def rate(self, user: str | None, highest: float | None) -> float:
        """Return the rate without factors, in money per node and hour.

        It changes only when ``quoted`` or ``answered`` is called.

        :param user: project that requests the lease; None if unknown
        :param highest: highest rate that the project is willing to pay, without factors; None if unknown
        """

    def quoted(self) -> None:
        """Note that a lease was offered at the rate."""

    def answered(self, user: str | None, rate: float, *, accepted: bool) -> None:
        """Note that a project accepted or declined a lease at a rate, which is without factors."""


def _factor(options: PolicyOptions, name: str) -> float:
    found = options.number(name, 1.0)
    if not found:
        raise InvalidValueError(f"policy option {name}", "must be more than 0; policy_pricing = free has no prices")
    return found
