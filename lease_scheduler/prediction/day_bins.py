"""Samples that are kept apart by the time of day at which they were taken (Pucher 2016, section 5.3.3)."""

from __future__ import annotations

from bisect import insort
from collections import deque

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bounds import Side, lower_rank, upper_rank

DAY = 86_400


class DayBins:
    """Samples by time of day, and confidence bounds of their quantiles.

    Samples of one day count as one observation for the confidence, because they saw the same events.

    :param bin_seconds: length of a bin; must divide a day
    :param offset: seconds that local time is ahead of the instants
    :param limit: maximum number of samples per bin; the oldest are forgotten
    :raises InvalidValueError: the length does not divide a day
    """

    def __init__(self, bin_seconds: int = 7200, offset: int = 0, limit: int = 10_000) -> None:
        if bin_seconds < 1 or DAY % bin_seconds:
            raise InvalidValueError("bin_seconds", f"must divide a day of {DAY} seconds, not {bin_seconds}")
        self._length = bin_seconds
        self._offset = offset
        self._limit = limit
        self._samples: list[deque[tuple[float, float]]] = [deque() for _ in range(DAY // bin_seconds)]
        self._ordered: list[list[float]] = [[] for _ in range(DAY // bin_seconds)]

    def index(self, instant: float) -> int:
        """Return the bin of an instant."""
        return int((instant + self._offset) % DAY // self._length)

    def add(self, instant: float, value: float) -> None:
        """Add a sample to the bin of an instant."""
        index = self.index(instant)
        samples, ordered = self._samples[index], self._ordered[index]
        if len(samples) == self._limit:
            ordered.remove(samples.popleft()[1])
        samples.append((instant, value))
        insort(ordered, value)

    def bound(self, instant: float, quantile: float, confidence: float, side: Side) -> float | None:
        """Return the bound of a quantile for things that begin at an instant, or None if too few days are known.

        :raises InvalidValueError: quantile or confidence is not between 0 and 1
        """
        index = self.index(instant)
        ordered = self._ordered[index]
        days = len({(instant + self._offset) // DAY for instant, _ in self._samples[index]})
        rank = (lower_rank if side is Side.LOWER else upper_rank)(days, quantile, confidence)
        if rank is None:
            return None
        if side is Side.LOWER:
            return ordered[max(1, rank * len(ordered) // days) - 1]
        return ordered[-(-rank * len(ordered) // days) - 1]
