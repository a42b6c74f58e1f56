"""Parallel jobs after the model of Lublin and Feitelson (JPDC 63, 2003), without job types.

The parameters by default are those for the whole sample of the public implementations. Amini Salehi 2012, section 3.3
uses the model with other means; see ``Lublin``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream

_BUCKETS = 48
_BUCKET = 1_800
_CYCLE_START = 11
_LONGEST_LOG_RUNTIME = 12.0
_LONGEST_LOG_GAP = 13.0

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Jobs:
    """Generated jobs, in the order of arrival; arrays of the same length.

    :ivar arrival: seconds from the zero of the workload
    :ivar nodes: number of nodes
    :ivar runtime: seconds
    """

    arrival: Integers
    nodes: Integers
    runtime: Integers


@dataclass(frozen=True)
class Lublin:
    """The laws of the model.

    :ivar serial: share of jobs with one node
    :ivar powers: share of jobs whose number of nodes is a power of two
    :ivar low: smallest binary logarithm of the number of nodes
    :ivar medium: binary logarithm at which the two uniform laws of the number of nodes meet
    :ivar high: largest binary logarithm
    :ivar lower_share: share of the lower one of these laws
    :ivar short: shape and scale of the gamma law of the logarithm of short runtimes
    :ivar long: the same for long ones
    :ivar slope: change of the share of short runtimes with each node
    :ivar intercept: share of short runtimes at no nodes
    :ivar gaps: shape and scale of the gamma law of the logarithm of the time between arrivals
    :ivar rush: factor of that shape while the site is busy
    :ivar day: shape and scale of the gamma law of arrivals over the day
    :raises InvalidValueError: the parameters of the number of nodes are not in order
    """

    serial: float = 0.244
    powers: float = 0.576
    low: float = 0.8
    medium: float = 4.5
    high: float = 7.0
    lower_share: float = 0.86
    short: tuple[float, float] = (4.2, 0.94)
    long: tuple[float, float] = (312.0, 0.03)
    slope: float = -0.0054
    intercept: float = 0.78
    gaps: tuple[float, float] = (10.2303, 0.4871)
    rush: float = 1.0225
    day: tuple[float, float] = (8.1737, 3.9631)

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.medium <= self.high:
            raise InvalidValueError("medium", f"must be from low, {self.low:g}, to high, {self.high:g}")
        for name in ("serial", "powers", "lower_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidValueError(name, f"must be from 0 to 1, not {getattr(self, name):g}")

    def nodes(self, count: int, seed: int, purpose: str = "lublin") -> Integers:
        """Return the numbers of nodes of some jobs.

        :param purpose: name of the stream of jobs
        """
        stream = random_stream(seed, f"{purpose} nodes")
        kind, lower = stream.random(count), stream.random(count) <= self.lower_share
        place = stream.random(count)
        logarithm = np.where(
            lower,
            self.low + (self.medium - self.low) * place,
            self.medium + (self.high - self.medium) * place,
        )
        logarithm = np.where(kind <= self.serial + self.powers, np.rint(logarithm), logarithm)
        found = np.minimum(np.rint(2.0**logarithm), 2.0**self.high)
        whole: Integers = np.where(kind <= self.serial, 1, found).astype(np.int64)
        return whole

    def runtimes(self, nodes: Integers, seed: int) -> Floats:
        """Return the runtimes of jobs in seconds, given their numbers of nodes."""
        stream = random_stream(seed, "lublin runtimes")
        is_short = stream.random(len(nodes)) <= np.clip(self.slope * nodes + self.intercept, 0, 1)
        logarithm = np.full(len(nodes), np.inf)
        while (redrawn := logarithm > _LONGEST_LOG_RUNTIME).any():
            drawn = np.where(
                is_short, stream.gamma(*self.short, size=len(nodes)), stream.gamma(*self.long, size=len(nodes))
            )
            logarithm = np.where(redrawn, drawn, logarithm)
        found: Floats = np.exp(logarithm)
        return found

    def arrivals(self, count: int, span: int, seed: int) -> Integers:
        """Return the arrivals of ``count`` jobs within a span of seconds, with the daily cycle."""
        stream = random_stream(seed, "lublin arrivals")
        logarithm = np.full(count + 1, np.inf)
        while (redrawn := logarithm > _LONGEST_LOG_GAP).any():
            drawn = stream.gamma(self.gaps[0] * self.rush, self.gaps[1], size=count + 1)
            logarithm = np.where(redrawn, drawn, logarithm)
        # An hour in which twice as many jobs arrive as on average counts twice.
        passed = np.exp(logarithm).cumsum()
        weights = self._weights(span)
        elapsed = np.concatenate(([0.0], weights.cumsum()))
        instants = np.arange(len(elapsed)) * float(_BUCKET)
        found = np.interp(passed[:-1] / passed[-1] * elapsed[-1], elapsed, instants)
        whole: Integers = np.minimum(found, span - 1).astype(np.int64)
        return whole

    def _weights(self, span: int) -> Floats:
        """Return the share of arrivals in each half hour of the span, 1 on average over a day."""
        # Imported here, because only this needs it and the import takes longer than a small run.
        from scipy import stats  # type: ignore[import-untyped]

        middle = np.arange(_BUCKETS)
        law = stats.gamma(self.day[0], scale=self.day[1])
        weights = law.cdf(middle + 0.5) - law.cdf(middle - 0.5)
        weights = np.roll(weights / weights.mean(), _CYCLE_START)
        days = -(-span // (_BUCKETS * _BUCKET))
        found: Floats = np.tile(weights, days)[: -(-span // _BUCKET)]
        return found


def lublin_jobs(
    model: Lublin, count: int, span: int, mean_runtime: float, seed: int, longest_runtime: float = float("inf")
) -> Jobs:
    """Return jobs whose mean runtime is the given one.

    Runtimes are multiplied by one factor; then those that are too long are cut.

    :param count: number of jobs, at least 1
    :param span: seconds within which they arrive
    :param mean_runtime: seconds
    :param longest_runtime: seconds, more than the mean
    :raises InvalidValueError: a parameter is out of range
    """
    if count < 1:
        raise InvalidValueError("count", f"must be at least 1, not {count}")
    if span < count:
        raise InvalidValueError("span", f"must be at least 1 s for each job, not {span} s for {count}")
    if not 0 < mean_runtime < longest_runtime:
        raise InvalidValueError(
            "mean_runtime",
            f"must be above 0 and below the longest runtime, {longest_runtime:g} s, not {mean_runtime:g} s",
        )
    nodes = model.nodes(count, seed)
    runtimes = model.runtimes(nodes, seed)
    low, high = 0.0, 1.0
    while np.minimum(runtimes * high, longest_runtime).mean() < mean_runtime:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if np.minimum(runtimes * middle, longest_runtime).mean() < mean_runtime:
            low = middle
        else:
            high = middle
    whole = np.maximum(1, np.rint(np.minimum(runtimes * high, longest_runtime))).astype(np.int64)
    return Jobs(model.arrivals(count, span, seed), nodes, whole)
