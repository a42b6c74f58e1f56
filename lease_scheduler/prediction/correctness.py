"""How well quoted bounds held: the figures by which predictors are compared.

A predictor of the q-quantile is correct if at least the share q of the observations is within the bounds quoted for
them (Brevik, Nurmi and Wolski, PPoPP 2006, section 4). Of two correct ones the better is nearer to the observations.
"""

from __future__ import annotations

import math

from lease_scheduler.prediction.bounds import Side, clopper_pearson


class Correctness:
    """Counts of bounds and of what was then observed.

    :param quantile: the quantile that the bounds are meant for
    :param side: whether they are upper or lower bounds
    :ivar judged: number of observations for which a bound was quoted
    :ivar held: number of these that were within the bound; equal counts as within
    """

    def __init__(self, quantile: float, side: Side = Side.UPPER) -> None:
        self._quantile = quantile if side is Side.UPPER else 1 - quantile
        self._side = side
        self.judged = 0
        self.held = 0
        self._ratios = 0.0
        self._ratio_count = 0
        self._squares = 0.0

    def judge(self, actual: float, quoted: float) -> None:
        """Count an observation and the bound that was quoted for it, in the same unit."""
        self.judged += 1
        self.held += actual <= quoted if self._side is Side.UPPER else actual >= quoted
        self._squares += (quoted - actual) ** 2
        if actual:
            self._ratios += quoted / actual
            self._ratio_count += 1

    @property
    def success_fraction(self) -> float:
        """Share of the observations within their bounds; 1 without observations."""
        return self.held / self.judged if self.judged else 1.0

    @property
    def mean_ratio(self) -> float | None:
        """Mean of bound to observation, over observations that are not 0; None without any."""
        return self._ratios / self._ratio_count if self._ratio_count else None

    @property
    def root_mean_square_error(self) -> float | None:
        """Root of the mean squared distance of bound and observation; None without observations."""
        return math.sqrt(self._squares / self.judged) if self.judged else None

    def is_correct(self, confidence: float = 0.95) -> bool:
        """Return whether the quantile was reached, up to what chance explains at this confidence."""
        return clopper_pearson(self.held, self.judged, confidence)[1] >= self._quantile
