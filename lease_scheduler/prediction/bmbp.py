"""A predictor of quantiles that learns from one observation after the other (BMBP).

Brevik, Nurmi and Wolski, "Predicting bounds on queuing delay for batch-scheduled parallel machines", PPoPP 2006; the
change points are those of QBETS (JSSPP 2007). Pucher 2016, section 3.3.4, uses the predictor for host power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction import change_points
from lease_scheduler.prediction.bounds import RANKS_PER_BLOCK, Side, check_probability, least_count, rank_block
from lease_scheduler.prediction.ordered import Everything, Window

#: Longer ago than the beginning of any run that is evidence of a change.
_LONG_AGO = 1 << 30


class Bmbp:
    """Confidence bound of a quantile of a series, with detection of changes of the process.

    The bound for the next observation depends on earlier ones only. An observation may be judged by a bound that was
    told earlier, such as the wait of a request by the bound at its submission: pass it as ``quoted``, and observe when
    the wait is over.

    After a change only the newest ``least`` observations count, and the history then grows again.

    :param quantile: of the series
    :param confidence: probability that the bound is on the safe side of the quantile
    :param window: how many observations are kept; None for all
    :param side: whether the bound is an upper or a lower one
    :param detect_changes: whether changes are looked for; without, this is the binomial method alone
    :ivar least: number of observations from which on there is a bound
    :raises InvalidValueError: quantile or confidence is not between 0 and 1, or the window is smaller than ``least``
    """

    def __init__(
        self,
        quantile: float = 0.95,
        confidence: float = 0.95,
        *,
        window: int | None = 2000,
        side: Side = Side.UPPER,
        detect_changes: bool = True,
    ) -> None:
        check_probability("quantile", quantile)
        check_probability("confidence", confidence)
        # A lower bound is the upper bound of what is mirrored at zero.
        self._sign = 1.0 if side is Side.UPPER else -1.0
        self._quantile = quantile if side is Side.UPPER else 1 - quantile
        self._confidence = confidence
        self.least = least_count(self._quantile, confidence)
        if window is not None and window < self.least:
            raise InvalidValueError("window", f"must be at least {self.least} for this quantile, not {window}")
        recent = max(self.least, change_points.NEWEST)
        self._history: Window | Everything = Everything(recent) if window is None else Window(window)
        self._detects = detect_changes
        self._least_misses = change_points.miss_run(self._quantile, 0) if detect_changes else _LONG_AGO
        self._least_hits = change_points.hit_run(self._quantile, 0) if detect_changes else _LONG_AGO
        self._learning = max(self.least, 1) if detect_changes else 0
        self._since_change = self._since_loose = _LONG_AGO
        self._misses = self._hits = 0
        self._ranks: list[int] = []
        self._first = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def bound(self) -> float | None:
        """Return the bound for the next observation, or None if there are too few."""
        rank = self._rank()
        return self._sign * self._history.smallest(rank) if rank else None

    def observe(self, value: float, quoted: float | None = None) -> bool:
        """Take in the next observation, and return whether the process is found to have changed.

        :param value: finite
        :param quoted: bound by which it is judged; None for the present one
        :raises InvalidValueError: the value is not finite
        """
        if not math.isfinite(value):
            raise InvalidValueError("value", f"must be finite, not {value}")
        value *= self._sign
        changed = False
        if self._count >= self.least:
            bound = self._history.smallest(self._rank()) if quoted is None else self._sign * quoted
            self._since_change += 1
            self._since_loose += 1
            if value > bound:
                self._misses += 1
                self._hits = 0
            else:
                self._hits += 1
                self._misses = 0
            if (
                self._misses >= self._least_misses
                or self._hits >= self._least_hits
                or self._since_change <= self._learning
                or self._since_loose < self._learning
            ):
                changed = self._trim()
        self._history.add(value)
        self._count = len(self._history)
        return changed

    def state(self) -> dict[str, Any]:
        """Return what ``restore`` needs to go on: plain values that fit into JSON.

        With an unlimited window these are only the newest observations, at most the larger of ``least`` and 100.
        """
        return {
            "values": [self._sign * value for value in self._history.newest(self._count)],
            "since_change": self._since_change,
            "since_loose": self._since_loose,
            "misses": self._misses,
            "hits": self._hits,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``state`` returned, possibly with a smaller window than then.

        :raises InvalidValueError: it is not what ``state`` returns
        """
        try:
            values = [float(value) for value in state["values"]]
            counts = [int(state[name]) for name in ("since_change", "since_loose", "misses", "hits")]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidValueError("state", f"must be what state() of a predictor returned: {error!r}") from None
        if not all(map(math.isfinite, values)) or min(counts) < 0:
            raise InvalidValueError("state", "must have finite values, and counts of at least 0")
        self._history.keep_newest(0)
        for value in values:
            self._history.add(self._sign * value)
        self._count = len(self._history)
        self._since_change, self._since_loose, self._misses, self._hits = counts

    def _rank(self) -> int:
        place = self._count - self._first
        if not 0 <= place < len(self._ranks):
            block = self._count // RANKS_PER_BLOCK
            self._ranks = rank_block(block, self._quantile, self._confidence)
            self._first = block * RANKS_PER_BLOCK
            place = self._count - self._first
        return self._ranks[place]

    def _trim(self) -> bool:
        """Forget what is older than a change. The autocorrelation is computed here only, as it is rarely needed."""
        correlation = change_points.autocorrelation(self._history.newest(change_points.NEWEST))
        longest = change_points.miss_run(self._quantile, correlation)
        is_miss = self._misses > 0
        is_change = is_miss and self._misses >= longest
        found = is_change and self._since_change > self.least - longest
        if found:
            # The window still has old observations for a while: a second run among them is the same change.
            self._since_change = self._since_loose = 0
        keep = self._since_change <= self.least - longest or found
        if not is_miss:
            loose = change_points.hit_run(self._quantile, correlation)
            if self._hits >= loose and self._since_loose >= loose:
                self._since_loose = self._since_change = 0
                found = keep = True
            elif self._since_loose < self.least:
                keep = True
        if keep:
            self._history.keep_newest(self.least)
        return found
