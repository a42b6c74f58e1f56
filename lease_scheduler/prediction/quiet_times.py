"""For how long no lease starts on a host, from when some did in the past.

A server that has to leave when a lease starts on its host lives until the next start there. So the question is in which
share of the past the next start came too soon. It is answered as in ``demand_history``: by as many observations as
lifetimes fit into the past one after the other, and by the largest share of misses among all times and those that
resemble the present (Pucher 2016, sections 4.3 and 5.3.3, for a cloud whose victims depend on the host). Times at which
a lease had the host tell nothing about a host that is free, and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.prediction.bounds import Side, least_count
from lease_scheduler.prediction.demand_history import STEP, Survey, largest_share, parts_of_week

_KEPT = 90 * 86_400 // STEP
#: How many starts, and how many ends, are kept at most. Where there are more, the past begins with what is kept.
_MOST = 2_000
_ROUNDING = 1e-9

#: The first step that is known, the steps of starts, and the steps in which the host was taken and became free,
#: alternately.
Known = tuple[int, tuple[int, ...], tuple[int, ...]]


class QuietTimes:
    """When leases had one host in the last 90 days, in steps of ten minutes.

    An instant before the last one, as of a clock set back, counts as the last one.

    :param since: instant from which on it is known
    """

    def __init__(self, since: int) -> None:
        self._since = since // STEP
        #: Steps in which a lease started.
        self._starts: list[int] = []
        #: Steps in which the host was taken and became free, alternately.
        self._turns: list[int] = []

    def known(self) -> Known:
        """Return what is known. Hosts for which it is equal have equal answers."""
        return self._since, tuple(self._starts), tuple(self._turns)

    @classmethod
    def of(cls, known: Known) -> QuietTimes:
        """Return the times from which ``known`` returned this."""
        found = cls(known[0] * STEP)
        found._starts, found._turns = list(known[1]), list(known[2])
        return found

    @property
    def is_free(self) -> bool:
        """Whether no lease has the host."""
        return len(self._turns) % 2 == 0

    def started(self, now: int) -> None:
        """Tell that a lease starts on the host now."""
        step = self._step(now)
        if not self._starts or step > self._starts[-1]:
            self._starts.append(step)
        if self.is_free:
            self._turns.append(step)
        while len(self._starts) > _MOST or len(self._turns) > 2 * _MOST:
            self._forget_before(1 + (self._starts[0] if len(self._starts) > _MOST else self._turns[1]))

    def ended(self, now: int) -> None:
        """Tell that no lease has the host any more."""
        if not self.is_free:
            self._turns.append(self._step(now))

    def forget(self, now: int) -> None:
        """Forget what is too old. Where the clock was ahead, forget all: nothing is known about when it was."""
        present = now // STEP
        if max([self._since, *self._starts[-1:], *self._turns[-1:]]) > present:
            taken = [] if self.is_free else [present]
            self._since, self._starts, self._turns = present, [], taken
        elif self._since < present - _KEPT:
            self._forget_before(present - _KEPT)

    def _forget_before(self, step: int) -> None:
        self._since = step
        self._starts = [each for each in self._starts if each >= step]
        while len(self._turns) >= 2 and self._turns[1] < step:
            del self._turns[:2]

    def _step(self, now: int) -> int:
        return max([now // STEP, self._since, *self._starts[-1:], *self._turns[-1:]])

    def survey(self, seconds: int, now: int, since: int = 0) -> Survey:
        """Return how often a lease started too soon for a lifetime, at times when the host was taken, or free, as now.

        :param seconds: the lifetime
        :param since: nothing before this instant counts
        """
        steps = -(-seconds // STEP) + 1
        first = max(self._since, since // STEP)
        count = now // STEP - first - steps
        if count <= 0:
            return Survey(0, 0)
        is_known = self._taken(first, count) != self.is_free
        known = int(np.count_nonzero(is_known))
        if not known:
            return Survey(0, 0)
        observations = -(-known // steps)
        # A start ends all lifetimes that would have begun less than that before it.
        starts = np.asarray([each - first for each in self._starts if each >= first], dtype=np.int64)
        is_missed = _covered(starts - steps + 1, starts + 1, count) & is_known
        share = largest_share(is_missed, is_known, parts_of_week(first, count, now), steps)
        return Survey(observations, math.ceil(share * observations - _ROUNDING))

    def _taken(self, first: int, count: int) -> NDArray[np.bool_]:
        """Return for some steps whether a lease had the host when they began."""
        turns = np.asarray(self._turns, dtype=np.int64) - first + 1
        ends = turns[1::2] if self.is_free else np.append(turns[1::2], count)
        return _covered(turns[::2], ends, count)

    def longest(
        self, lifetimes: Sequence[int], assurance: float, confidence: float, now: int, since: int = 0
    ) -> int | None:
        """Return the longest of some lifetimes that is reached with this probability, or None if none is.

        :param lifetimes: in seconds, ascending
        """
        least = least_count(1 - assurance, confidence, Side.LOWER)
        known = now - max(self._since * STEP, since)
        # Longer ones do not fit often enough into the past, whatever happened in it.
        low, high = 0, sum(known >= (least - 1) * seconds for seconds in lifetimes)
        while low < high:
            middle = (low + high + 1) // 2
            if self.survey(lifetimes[middle - 1], now, since).reaches(assurance, confidence):
                low = middle
            else:
                high = middle - 1
        return lifetimes[low - 1] if low else None

    def stored(self) -> Mapping[str, Any]:
        """Return what is known, as plain values."""
        return {"since": self._since, "starts": self._starts[:], "turns": self._turns[:]}


def restored(stored: Mapping[str, Any]) -> QuietTimes | None:
    """Return what ``QuietTimes.stored`` has returned, or None if it is damaged."""
    since = stored.get("since")
    starts: Any = stored.get("starts")
    turns: Any = stored.get("turns")
    if not isinstance(since, int) or not _are_steps(starts, _MOST) or not _are_steps(turns, 2 * _MOST):
        return None
    return QuietTimes.of((since, tuple(starts), tuple(turns)))


def _are_steps(values: Any, most: int) -> bool:
    if not isinstance(values, list) or len(values) > most or not all(isinstance(each, int) for each in values):
        return False
    return values == sorted(values)


def _covered(begins: NDArray[np.int64], ends: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """Return which of the steps from 0 on lie in one of some intervals."""
    changes = np.zeros(count + 1, dtype=np.int64)
    np.add.at(changes, np.clip(begins, 0, count), 1)
    np.add.at(changes, np.clip(ends, 0, count), -1)
    return np.cumsum(changes)[:count] > 0
