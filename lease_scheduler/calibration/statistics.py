"""Figures of samples (Sotomayor 2010, section 7.2.2): pure, from plain numbers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, sqrt

#: How far beyond the quartiles, in distances between these, a value is called an outlier (Tukey's fences).
_FENCE = 1.5

#: Fewer than this have no quartiles worth the name.
_FEWEST_FOR_QUARTILES = 5

#: Fewer samples than this say nothing of how they vary.
FEWEST = 2


@dataclass(frozen=True)
class Summary:
    """Of some durations, in seconds.

    :ivar sd: standard deviation of the population that they are a sample of
    :ivar outliers: how many lie far from the others; they count like all
    """

    count: int
    mean: float
    sd: float
    smallest: float
    largest: float
    outliers: int

    @property
    def upper(self) -> float:
        """Mean plus two standard deviations, which few operations exceed: what is planned with."""
        return self.mean + 2 * self.sd


def summarize(values: Sequence[float]) -> Summary | None:
    """The figures of some values, none if there are fewer than two."""
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
    """Those that lie beyond one and a half interquartile ranges from the quartiles; none of fewer than five values."""
    if len(values) < _FEWEST_FOR_QUARTILES:
        return []
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    reach = _FENCE * (high - low)
    return [value for value in values if not low - reach <= value <= high + reach]


def rate(size_mb: float, seconds: float) -> float:
    """MB/s at which a size is copied in a time; rounded down to hundredths, at least one of them.

    :param seconds: mean plus two standard deviations, as the dissertation has it: m / (mean + 2 sd)
    """
    exact = size_mb / max(seconds, 1e-3)
    return max(0.01, floor(exact * 100 + 1e-9) / 100)


def is_global(single: float, on_hosts: float, count: int) -> bool:
    """Whether operations on different hosts take turns (equation 7.1), rather than going on side by side.

    They would take ``count`` times as long as one if they took turns, and as long as one if not. Half-way between the
    two, as factors go, is the root of ``count``.

    :param single: seconds that one takes alone
    :param on_hosts: seconds that ``count`` of them take together, each on a host of its own
    """
    return on_hosts > single * sqrt(count)
