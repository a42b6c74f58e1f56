"""Predictions for things of different kinds: one predictor for each cluster of like ones, and detection of downtimes.

Nurmi, Brevik and Wolski, "QBETS: queue bounds estimation from time series", JSSPP 2007, sections 4 and 5.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.prediction.bmbp import Bmbp

#: A cluster has at least this many observations.
_LEAST_MEMBERS = 2
#: Observations between two clusterings.
_CLUSTER_EVERY = 100
#: Stands for 0 in the likelihood of an exponential distribution, whose rate would be infinite.
_TINY = 1e-9


def cluster_limits(variables: Sequence[float], values: Sequence[float], most: int = 3) -> tuple[float, ...]:
    """Return where observations are best divided into clusters of like values.

    Beginning with one cluster, the one that is fitted worst by an exponential distribution is divided where that raises
    the likelihood most. Of the numbers of clusters, the one with the best Bayesian information criterion is taken.

    :param variables: what explains the values, such as requested durations; one for each value
    :param values: at least 0
    :param most: maximum number of clusters
    :return: the largest variable of each cluster but the last, in ascending order
    """
    if not values:
        return ()
    order = np.argsort(np.asarray(variables, dtype=float), kind="stable")
    keys = np.asarray(variables, dtype=float)[order]
    sums = np.concatenate(([0.0], np.cumsum(np.asarray(values, dtype=float)[order])))
    parts = [(0, len(keys))]
    best, best_score = parts, _likelihood(sums, 0, len(keys))
    while len(parts) < most:
        for part in sorted(parts, key=lambda each: _likelihood(sums, *each)):
            cut = _best_cut(keys, sums, *part)
            if cut is not None:
                break
        else:
            break
        parts = sorted({*parts, (part[0], cut), (cut, part[1])} - {part})
        penalty = (len(parts) - 1) * math.log(len(keys))
        score = sum(_likelihood(sums, *each) for each in parts) - penalty
        if score > best_score:
            best, best_score = parts, score
    return tuple(float(keys[end - 1]) for _, end in best[:-1])


def _likelihood(sums: NDArray[np.float64], start: int, end: int) -> float:
    count = end - start
    return count * math.log(count / max(sums[end] - sums[start], _TINY)) - count


def _best_cut(keys: NDArray[np.float64], sums: NDArray[np.float64], start: int, end: int) -> int | None:
    """Return the first place of the right part, or None if the part cannot be divided."""
    cuts = np.arange(start + _LEAST_MEMBERS, end - _LEAST_MEMBERS + 1)
    cuts = cuts[keys[cuts] > keys[cuts - 1]] if len(cuts) else cuts
    if not len(cuts):
        return None
    left, right = cuts - start, end - cuts
    gain = left * np.log(left / np.maximum(sums[cuts] - sums[start], _TINY))
    gain = gain + right * np.log(right / np.maximum(sums[end] - sums[cuts], _TINY))
    return int(cuts[int(np.argmax(gain))])


class Qbets:
    """Bounds of a quantile for things that an explanatory variable divides into clusters.

    A cluster with too few observations borrows those of its neighbours, first upwards, then downwards. The clusters are
    determined again every hundred observations, from those that are kept.

    :param quantile: of the values
    :param confidence: probability that a bound is on the safe side of the quantile
    :param window: how many observations are kept in all
    :param most_clusters: maximum number of clusters
    :raises InvalidValueError: quantile or confidence is not between 0 and 1, or the window is too small for a bound
    """

    def __init__(
        self, quantile: float = 0.95, confidence: float = 0.95, *, window: int = 2000, most_clusters: int = 3
    ) -> None:
        self._quantile = quantile
        self._confidence = confidence
        self._window = window
        self._most = most_clusters
        self._kept: deque[tuple[float, float]] = deque(maxlen=window)
        self._limits: tuple[float, ...] = ()
        self._predictors = [self._predictor()]
        self._since_clustering = 0

    @property
    def limits(self) -> tuple[float, ...]:
        """The largest variable of each cluster but the last."""
        return self._limits

    def bound(self, variable: float) -> float | None:
        """Return the bound for something with this variable, or None if there are too few observations."""
        return self._predictors[bisect_left(self._limits, variable)].bound()

    def observe(self, variable: float, value: float, quoted: float | None = None) -> None:
        """Take in the next observation.

        :param value: at least 0 and finite
        :param quoted: bound by which it is judged; None for the present one
        :raises InvalidValueError: the value is not finite
        """
        self._predictors[bisect_left(self._limits, variable)].observe(value, quoted)
        self._kept.append((variable, value))
        self._since_clustering += 1
        if self._since_clustering >= _CLUSTER_EVERY:
            self._cluster()

    def _cluster(self) -> None:
        self._since_clustering = 0
        variables, values = [list(each) for each in zip(*self._kept, strict=True)]
        limits = cluster_limits(variables, values, self._most)
        if limits == self._limits and len(self._predictors[0]) >= self._predictors[0].least:
            return
        self._limits = limits
        members: list[list[tuple[int, float]]] = [[] for _ in range(len(limits) + 1)]
        for place, (variable, value) in enumerate(self._kept):
            members[bisect_left(limits, variable)].append((place, value))
        self._predictors = []
        for index in range(len(members)):
            predictor = self._predictor()
            for _, value in self._with_neighbours(members, index, predictor.least):
                predictor.observe(value)
            self._predictors.append(predictor)

    @staticmethod
    def _with_neighbours(members: list[list[tuple[int, float]]], index: int, least: int) -> list[tuple[int, float]]:
        """Return the members of a cluster and of as many neighbours as it needs, in the order of time."""
        chosen = list(members[index])
        for neighbour in (*range(index + 1, len(members)), *range(index - 1, -1, -1)):
            if len(chosen) >= least:
                break
            chosen += members[neighbour]
        return sorted(chosen)

    def _predictor(self) -> Bmbp:
        return Bmbp(self._quantile, self._confidence, window=self._window)


class Downtime:
    """Notices that a machine releases nothing any more, so that waits say nothing about its queue.

    Two predictors watch the time between releases and the number of arrivals without a release. While one of the bounds
    is exceeded, the machine is thought to be down.
    """

    def __init__(self, quantile: float = 0.99, confidence: float = 0.95) -> None:
        self._gaps = Bmbp(quantile, confidence)
        self._arrivals = Bmbp(quantile, confidence)
        self._last_release: float | None = None
        self._waiting = 0

    def arrived(self) -> None:
        """Count an arrival."""
        self._waiting += 1

    def released(self, now: float) -> None:
        """Learn from a release.

        :param now: instant in seconds, not before that of the last release
        """
        if self._last_release is not None:
            self._gaps.observe(now - self._last_release)
            self._arrivals.observe(self._waiting)
        self._last_release = now
        self._waiting = 0

    def is_down(self, now: float) -> bool:
        """Return whether the machine is thought to be down, False as long as too little is known."""
        gap, arrivals = self._gaps.bound(), self._arrivals.bound()
        if self._last_release is None or gap is None or arrivals is None:
            return False
        return now - self._last_release > gap or self._waiting > arrivals
