"""How long instances take to be ready: start-up and transfer of their data (Pucher 2016, section 5.3.4)."""

from __future__ import annotations

from lease_scheduler.prediction.bounds import Side
from lease_scheduler.prediction.day_bins import DayBins


class Overheads:
    """Start-up delays and bandwidths, by time of day.

    :param bin_seconds: length of a bin of the time of day; must divide a day
    :param offset: seconds that local time is ahead of the instants
    :raises InvalidValueError: the length of a bin does not divide a day
    """

    def __init__(self, bin_seconds: int = 7200, offset: int = 0) -> None:
        self._start_ups = DayBins(bin_seconds, offset)
        self._bandwidths = DayBins(bin_seconds, offset)

    def started_up(self, now: float, seconds: float) -> None:
        """Tell how long a start-up took that began at an instant."""
        self._start_ups.add(now, seconds)

    def transferred(self, now: float, bytes_per_second: float) -> None:
        """Tell the bandwidth of a transfer that began at an instant."""
        self._bandwidths.add(now, bytes_per_second)

    def set_up(self, now: float, quantile: float, size: int = 0, confidence: float = 0.95) -> float | None:
        """Return how long an instance takes until it is ready, or None if too few days are known.

        The data is transferred while the instance starts.

        :param quantile: share of the instances that are ready by then
        :param size: data to transfer, in bytes
        :raises InvalidValueError: quantile or confidence is not between 0 and 1
        """
        start_up = self._start_ups.bound(now, quantile, confidence, Side.UPPER)
        if start_up is None or not size:
            return start_up
        bandwidth = self._bandwidths.bound(now, 1 - quantile, confidence, Side.LOWER)
        return None if bandwidth is None else max(start_up, size / bandwidth)
