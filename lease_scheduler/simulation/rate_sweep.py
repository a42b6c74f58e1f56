"""A whole workload at one rate after the other, without scheduling (haizea F89; Sotomayor 2010, appendix A.5).

Every lease counts as feasible, so that all that decides is whether its user takes the rate. The extra
``simul_userrate`` of a lease says what he would pay at most by the node-hour (haizea F77).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.simulation.metrics import users_rate
from lease_scheduler.simulation.workload import Workload

#: Money per node and hour, 0.10 to 10.00 by 0.01. Quotients of whole numbers are the very rates that files say.
RATES: NDArray[np.float64] = np.arange(10, 1001) / 100


@dataclass(frozen=True)
class RateSweep:
    """Shares of all that users would pay, at each rate; the three add up to 1. Arrays of the same length.

    :ivar rates: money per node and hour, rising
    :ivar earned: what is paid
    :ivar underpriced: what those who pay would have paid beyond that
    :ivar rejected: what those would have paid for whom the rate is too high
    """

    rates: NDArray[np.float64]
    earned: NDArray[np.float64]
    underpriced: NDArray[np.float64]
    rejected: NDArray[np.float64]

    @property
    def best_rate(self) -> float:
        """The rate that earns most, the lowest of several."""
        return float(self.rates[np.argmax(self.earned)])


def sweep_rates(workload: Workload, rates: NDArray[np.float64] = RATES) -> RateSweep:
    """What each rate would earn if every lease could be had.

    :param rates: money per node and hour, rising
    :raises InvalidValueError: a lease does not say what its user would pay, or nobody would pay anything
    """
    highest = _users_rates(workload)
    hours = np.array([lease.request.node_hours for lease in workload.leases])
    order = np.argsort(highest, kind="stable")
    # Element i is of what is left when the i users' rates at the bottom are too low.
    hours_left = _sums_from(hours[order])
    worth_left = _sums_from((highest * hours)[order])
    total = worth_left[0]
    if not total > 0:
        raise InvalidValueError("simul_userrate", "no lease of the workload is worth anything to its user")
    takers = np.searchsorted(highest[order], rates, side="left")
    earned = rates * hours_left[takers]
    paying = worth_left[takers]
    # Rounding may leave a hair less than nothing where everybody pays all that he would.
    underpriced = np.maximum(paying - earned, 0)
    return RateSweep(rates, earned / total, underpriced / total, (total - paying) / total)


def adaptive_rate(workload: Workload, policy: PricingPolicy) -> float:
    """The rate that a policy ends at if it is asked for every lease in the order of submission.

    :param policy: one that has learnt nothing yet; it learns
    :raises InvalidValueError: a lease does not say what its user would pay
    """
    for lease, highest in zip(workload.leases, _users_rates(workload).tolist(), strict=True):
        user = lease.request.user
        rate = policy.rate(user, highest)
        policy.quoted()
        policy.answered(user, rate, accepted=rate <= highest)
    return policy.rate(None, None)


def median_rate(workload: Workload) -> float:
    """The median of what users would pay by the node-hour, each counted by his leases; the upper one of two.

    :raises InvalidValueError: there is no lease, or one does not say what its user would pay
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
    """Element i is the sum of the values from i on; one more element than there are values, which is 0."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)
