"""Statistics of samples (Sotomayor 2010, section 7.2.2)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, sqrt

#: A value is an outlier if it lies further than this many interquartile ranges beyond the quartiles (Tukey's fences).
_FENCE = 1.5

#: Fewer values than this have no meaningful quartiles.
_FEWEST_FOR_QUARTILES = 5

#: Fewer samples than this have no standard deviation.
FEWEST = 2


@dataclass(frozen=True)
class Summary:
    """Statistics of some durations, in seconds.

    :ivar sd: estimated standard deviation of the population
    :ivar outliers: number of outliers, which are included in all other figures
    """

    count: int
    mean: float
    sd: float
    smallest: float
    largest: float
    outliers: int

    @property
    def upper(self) -> float:
        """Mean plus two standard deviations, which few operations exceed; the plan uses this value."""
        return self.mean + 2 * self.sd


def summarize(values: Sequence[float]) -> Summary | None:
    """Return the statistics of some values, or None if there are fewer than two."""
    if len(values) < FEWEST:
        return None
    return Summary(
        len(values),
        statistics.fmean(values),
        statistics.stdev(values),
        min(values),
        max(values),
        len(outliers(values)),
    )


def outliers(values: Sequence[float]) -> list[float]:
    """Return the values further than 1.5 interquartile ranges from the quartiles; no values if fewer than five."""
    if len(values) < _FEWEST_FOR_QUARTILES:
        return []
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    reach = _FENCE * (high - low)
    return [value for value in values if not low - reach <= value <= high + reach]


def rate(size_mb: float, seconds: float) -> float:
    """Return the rate in MB/s at which a size is copied, rounded down to hundredths but at least 0.01.

    :param seconds: mean plus two standard deviations, as in the dissertation: m / (mean + 2 sd)
    """
    exact = size_mb / max(seconds, 1e-3)
    return max(0.01, floor(exact * 100 + 1e-9) / 100)


def is_global(single: float, on_hosts: float, count: int) -> bool:
    """Return whether operations on different hosts take turns (equation 7.1) instead of running in parallel.

    If they took turns, they would take ``count`` times as long as one; in parallel, as long as one. The threshold is
    the geometric mean of the two, the square root of ``count``.

    :param single: seconds that one operation takes alone
    :param on_hosts: seconds that ``count`` operations take together, each on its own host
    """
    return on_hosts > single * sqrt(count)
