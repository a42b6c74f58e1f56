"""How to divide external requests over clusters that prefer local ones (Amini Salehi 2012, section 4.2).

Each cluster is an M/G/1 queue: one server, at which local requests interrupt external ones. Divided as
``best_division`` does it, external requests have the shortest mean response time that is possible; that stands for few
preemptions (equations 4.1 to 4.3).

Corrections of the printed formulas: the numerator of equation 4.7 is (1 - rho) (omega (1 - rho) + theta lambda mu), as
only then a cluster has the rate 0 at its own marginal cost, which equation 4.9 requires. Algorithm 2 takes the largest
number of clusters that passes its test; the first that does would always be one cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq  # type: ignore[import-untyped]

from lease_scheduler.model.errors import InvalidValueError

#: Shortest mean service time of external requests, in seconds. Rates would grow beyond all numbers with shorter ones.
LEAST_TIME = 1e-9

FloatArray = NDArray[np.float64]

#: The multiplier is found up to this share of itself.
_PRECISION = 1e-13
_TINY = 1e-300
#: With a larger part of what clusters can serve, response times would grow beyond all numbers.
_SERVABLE = 1 - 1e-9


@dataclass(frozen=True)
class Cluster:
    """A cluster as one server. Times are in seconds, rates per second.

    :ivar mean: mean service time of external requests (theta)
    :ivar square: mean of the squares of the same (omega)
    :ivar local_rate: arrivals of local requests (lambda)
    :ivar local_mean: mean service time of local requests (tau)
    :ivar local_square: mean of the squares of the same (mu)
    :raises InvalidValueError: a figure is not finite or negative, ``mean`` is below ``LEAST_TIME``, or a square is
        below that of its mean
    """

    mean: float
    square: float
    local_rate: float = 0.0
    local_mean: float = 0.0
    local_square: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mean", "square", "local_rate", "local_mean", "local_square"):
            if not isfinite(getattr(self, name)) or getattr(self, name) < 0:
                raise InvalidValueError(name, f"must be finite and at least 0, not {getattr(self, name)}")
        if self.mean < LEAST_TIME:
            raise InvalidValueError("mean", f"must be at least {LEAST_TIME} s, not {self.mean}")
        for name, mean in (("square", self.mean), ("local_square", self.local_mean)):
            if getattr(self, name) < mean**2 * (1 - 1e-9):
                raise InvalidValueError(name, f"must be at least {mean**2}, the square of the mean")

    @property
    def local_load(self) -> float:
        """Share of the time that local requests take (rho)."""
        return self.local_rate * self.local_mean

    @property
    def most(self) -> float:
        """External arrivals per second that it can serve beside the local ones, 0 if it cannot serve any."""
        return max(0.0, 1 - self.local_load) / self.mean


@dataclass(frozen=True)
class Division:
    """Rates of external arrivals.

    :ivar rates: arrivals per second of each cluster, in the order given
    :ivar marginal_cost: by how much the sum of rate times response time grows with the rate of any used cluster, in
        seconds (the multiplier z); None if the clusters cannot serve the total
    """

    rates: tuple[float, ...]
    marginal_cost: float | None


def best_division(total: float, clusters: Sequence[Cluster]) -> Division:
    """Divide arrivals over clusters so that the mean response time is least (algorithm 2, PAP).

    Clusters whose marginal cost at rate 0 is above that of the others get none. If the clusters cannot serve the total,
    it is divided in proportion to what each can serve; the rates are all 0 if none can serve anything.

    :param total: external arrivals per second
    :raises InvalidValueError: the total is not a positive number
    """
    if not isfinite(total) or total <= 0:
        raise InvalidValueError("total", f"must be more than 0, not {total}")
    most = np.array([each.most for each in clusters], dtype=np.float64)
    whole = float(most.sum())
    if total >= whole * _SERVABLE:
        return Division(tuple((total * most / whole if whole else most).tolist()), None)
    able = np.flatnonzero(most)
    found = np.zeros(len(clusters))
    found[able], cost = _shares_one_cost(total, [clusters[index] for index in able.tolist()])
    return Division(tuple((found * (total / found.sum())).tolist()), cost)


def _shares_one_cost(total: float, clusters: Sequence[Cluster]) -> tuple[FloatArray, float]:
    """Return the rates with which all used clusters have the same marginal cost, and that cost.

    :param total: sum of the rates
    :param clusters: clusters that can serve external requests, and together more than the total
    """
    figures = np.array(
        [(each.mean, each.square, each.local_rate, each.local_load, each.local_square) for each in clusters]
    )
    mean, square, rate, load, local_square = figures.T
    rest = 1 - load
    # Marginal costs at rate 0 (psi, equations 4.10 and 4.14).
    first = rate * local_square / (2 * rest**2) + mean / rest
    order = np.argsort(first, kind="stable")
    first = first[order]
    curves = np.array((rest / mean, 2 * mean * rest / (square + mean * rate * local_square / rest)))[:, order]
    # Row by row: rates at the cost at which the next cluster begins to be used.
    at_first = _rates(curves, np.maximum(0.0, first[:, None] - first))
    used = int(np.searchsorted(at_first.sum(axis=1), total, side="right"))
    curves, lower = curves[:, :used], float(first[used - 1])
    # What is looked for is how far the cost is above the lowest possible one. That may be too little to see in the sum.
    beyond = lower - first[:used]

    def missing(more: float) -> float:
        return float(_rates(curves, beyond + more).sum()) - total

    upper = lower
    while missing(upper) < 0:
        upper *= 2
    # Without the condition, rates that were found to be less than the total may be more when they are added in another
    # order.
    more = cast(float, brentq(missing, 0.0, upper, rtol=_PRECISION, xtol=_TINY)) if missing(0.0) < 0 else 0.0
    found = np.zeros(len(clusters))
    found[order[:used]] = _rates(curves, beyond + more)
    return found, lower + more


def _rates(curves: FloatArray, beyond: FloatArray) -> FloatArray:
    """Return the rates at a marginal cost (equations 4.7 and 4.11), in a form in which no digits cancel.

    :param curves: shape (2, clusters): the largest rate, and how fast it is approached
    :param beyond: by how much the marginal cost is above that of each cluster at rate 0, in seconds
    """
    most, slope = curves
    rise = slope * beyond
    root = np.sqrt(1 + rise)
    found: FloatArray = most * rise / (root * (root + 1))
    return found
