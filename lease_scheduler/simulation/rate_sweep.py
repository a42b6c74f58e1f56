"""Rate sweeps: the revenue of a whole workload at each of many rates (haizea F89; Sotomayor 2010, appendix A.5).

Nothing is scheduled. Every lease counts as feasible, so only its user decides, by comparing the rate with the user's
own: the most that the user would pay per node and hour, which is the extra ``simul_userrate`` (haizea F77).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.simulation.metrics import users_rate
from lease_scheduler.simulation.workload import Workload

#: Rates per node and hour, 0.10 to 10.00 in steps of 0.01. As quotients of whole numbers they equal rates in files.
RATES: NDArray[np.float64] = np.arange(10, 1001) / 100


@dataclass(frozen=True)
class RateSweep:
    """At each rate, shares of all that users would pay. The three shares add up to 1; all arrays have the same length.

    :ivar rates: money per node and hour, increasing
    :ivar earned: what users pay
    :ivar underpriced: what users who accept the rate would have paid in addition
    :ivar rejected: what users who reject the rate would have paid
    """

    rates: NDArray[np.float64]
    earned: NDArray[np.float64]
    underpriced: NDArray[np.float64]
    rejected: NDArray[np.float64]

    @property
    def best_rate(self) -> float:
        """The rate that earns most; the lowest one if there are several."""
        return float(self.rates[np.argmax(self.earned)])


def sweep_rates(workload: Workload, rates: NDArray[np.float64] = RATES) -> RateSweep:
    """Return what each rate would earn if every lease were feasible.

    :param rates: money per node and hour, increasing
    :raises InvalidValueError: a lease has no user's rate, or no user would pay anything
    """
    highest = _users_rates(workload)
    hours = np.array([lease.request.node_hours for lease in workload.leases])
    order = np.argsort(highest, kind="stable")
    # Element i is the sum over all leases but the i leases with the lowest users' rates.
    hours_left = _sums_from(hours[order])
    worth_left = _sums_from((highest * hours)[order])
    total = worth_left[0]
    if not total > 0:
        raise InvalidValueError("simul_userrate", "no lease of the workload is worth anything to its user")
    takers = np.searchsorted(highest[order], rates, side="left")
    earned = rates * hours_left[takers]
    paying = worth_left[takers]
    # If all users pay the most that they would, rounding errors can make the difference slightly negative.
    underpriced = np.maximum(paying - earned, 0)
    return RateSweep(rates, earned / total, underpriced / total, (total - paying) / total)


def adaptive_rate(workload: Workload, policy: PricingPolicy) -> float:
    """Return the final rate of a policy after it has quoted all leases in order of submission.

    :param policy: a policy that has not learnt anything yet; its state changes
    :raises InvalidValueError: a lease has no user's rate
    """
    for lease, highest in zip(workload.leases, _users_rates(workload).tolist(), strict=True):
        user = lease.request.user
        rate = policy.rate(user, highest)
        policy.quoted()
        policy.answered(user, rate, accepted=rate <= highest)
    return policy.rate(None, None)


def median_rate(workload: Workload) -> float:
    """Return the median of the users' rates over all leases; the upper one if there are two.

    :raises InvalidValueError: there is no lease, or a lease has no user's rate
    """
    highest = np.sort(_users_rates(workload))
    if not len(highest):
        raise InvalidValueError("workload", "has no leases")
    return float(highest[len(highest) // 2])


def _users_rates(workload: Workload) -> NDArray[np.float64]:
    rates = []
    for lease in workload.leases:
        rate = users_rate(lease.request)
        if rate is None or rate < 0:
            problem = f"lease {lease.request.lease_id} needs it, as a number of at least 0; annotate the workload"
            raise InvalidValueError("simul_userrate", problem)
        rates.append(rate)
    return np.array(rates, dtype=np.float64)


def _sums_from(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an array whose element i is the sum of the values from i on, followed by a 0."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)
