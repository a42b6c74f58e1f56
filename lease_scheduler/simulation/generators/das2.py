"""Jobs after the model of the DAS-2 clusters (Li, Groep, Wolters, JSSPP 2004).

Numbers of nodes follow two uniform laws of their binary logarithm, runtimes a log-normal law, and times between
arrivals a Weibull law. The parameters by default are those of Amini Salehi 2012, table 4.2, for its clusters. As
printed they ask for 2 to 8 times what the clusters have; ``calibrated`` makes arrivals rarer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, exp, gamma, isfinite

import numpy as np

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.generators.lublin import Jobs, Lublin


@dataclass(frozen=True)
class Das2:
    """The laws of a stream of jobs. Times are in seconds.

    :ivar medium: binary logarithm of the number of nodes at which its two uniform laws meet
    :ivar high: largest binary logarithm
    :ivar runtime: mean and standard deviation of the natural logarithm of the runtime
    :ivar gaps: scale and shape of the Weibull law of the time between arrivals
    :ivar one: share of jobs with one node
    :ivar powers: share of jobs whose number of nodes is a power of two
    :ivar low: smallest binary logarithm of the number of nodes
    :ivar lower_share: share of the lower one of the two uniform laws
    :ivar longest: longest runtime; the law has a heavy tail
    :raises InvalidValueError: a value is out of range
    """

    medium: float
    high: float
    runtime: tuple[float, float]
    gaps: tuple[float, float]
    one: float = 0.3
    powers: float = 0.6
    low: float = 0.8
    lower_share: float = 0.9
    longest: float = 36_000.0

    def __post_init__(self) -> None:
        for name, value in (
            ("runtime.deviation", self.runtime[1]),
            ("gaps.scale", self.gaps[0]),
            ("gaps.shape", self.gaps[1]),
            ("longest", self.longest),
        ):
            if not isfinite(value) or value <= 0:
                raise InvalidValueError(name, f"must be more than 0, not {value}")
        _ = self.sizes

    @property
    def sizes(self) -> Lublin:
        """Return the law of the number of nodes, which both models share. It checks its parameters."""
        return Lublin(self.one, self.powers, self.low, self.medium, self.high, self.lower_share)

    @property
    def mean_nodes(self) -> float:
        """Mean number of nodes by equations 4.28 and 4.29, which is lower than that of the law."""
        middle = (self.lower_share * self.low + self.medium + (1 - self.lower_share) * self.high) / 2
        rounded_up = float(2 ** ceil(middle))
        others: float = 2.0**middle * (1 - self.one - self.powers)
        return self.one + rounded_up * self.powers + others

    @property
    def mean_runtime(self) -> float:
        """Mean runtime by equation 4.30, without the limit."""
        return exp(self.runtime[0] + self.runtime[1] ** 2 / 2)

    @property
    def mean_gap(self) -> float:
        """Mean time between arrivals."""
        return self.gaps[0] * gamma(1 + 1 / self.gaps[1])

    def load(self, nodes: float) -> float:
        """Return the share of a cluster that the jobs need.

        :param nodes: number of nodes of the cluster, in units of the node for which runtimes are given
        """
        return self.mean_nodes * self.mean_runtime / self.mean_gap / nodes

    def calibrated(self, nodes: float, load: float) -> Das2:
        """Return the laws with arrivals made so rare that a cluster has the given load.

        :raises InvalidValueError: the load is not positive
        """
        if not isfinite(load) or load <= 0:
            raise InvalidValueError("load", f"must be more than 0, not {load}")
        scale, shape = self.gaps
        return replace(self, gaps=(scale * self.load(nodes) / load, shape))


#: The externals at their mean point, and the local requests of each cluster by its number of nodes.
EXTERNAL = Das2(3.0, 6.0, (4.595, 1.7), (7.0, 1.1), one=0.2, powers=0.5)
CLUSTERS = {
    64: Das2(2.5, 6.0, (5.0, 1.7), (2.0, 0.35)),
    128: Das2(3.5, 7.0, (5.35, 1.7), (1.6, 0.35)),
    256: Das2(4.5, 8.0, (5.5, 1.7), (1.2, 0.35)),
}


def das2_jobs(laws: Das2, span: int, seed: int, purpose: str) -> Jobs:
    """Return the jobs that arrive within a span of seconds.

    :param purpose: name of the stream of jobs; streams of different names are independent
    """
    gaps = random_stream(seed, f"{purpose}: arrivals")
    scale, shape = laws.gaps
    arrival = np.empty(0)
    while not len(arrival) or arrival[-1] < span:
        more = scale * gaps.weibull(shape, size=max(16, int(span / laws.mean_gap)))
        arrival = np.concatenate((arrival, (arrival[-1] if len(arrival) else 0.0) + more.cumsum()))
    arrival = arrival[arrival < span]
    nodes = laws.sizes.nodes(len(arrival), seed, purpose)
    runtime = random_stream(seed, f"{purpose}: runtimes").lognormal(*laws.runtime, size=len(arrival))
    whole = np.maximum(1, np.rint(np.minimum(runtime, laws.longest))).astype(np.int64)
    return Jobs(arrival.astype(np.int64), nodes, whole)
