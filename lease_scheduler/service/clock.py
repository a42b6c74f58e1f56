"""Clocks of the service: the real one, and one that runs faster for demonstrations."""

from __future__ import annotations

import time


class RealClock:
    """The system's clock."""

    def now(self) -> int:
        """Seconds since the epoch."""
        return int(time.time())

    def seconds_until(self, instant: int) -> float:
        """Real seconds until an instant; 0 if it has come."""
        return max(0.0, instant - time.time())


class AcceleratedClock:
    """A clock that runs a fixed factor faster than the real one.

    :param start: what it shows now
    :param speed: its seconds in a real second
    """

    def __init__(self, start: int, speed: float) -> None:
        self._start = start
        self._speed = speed
        self._begun = time.monotonic()

    def now(self) -> int:
        """The present instant."""
        return int(self._now())

    def _now(self) -> float:
        return self._start + (time.monotonic() - self._begun) * self._speed

    def seconds_until(self, instant: int) -> float:
        """Real seconds until an instant; 0 if it has come."""
        return max(0.0, (instant - self._now()) / self._speed)
