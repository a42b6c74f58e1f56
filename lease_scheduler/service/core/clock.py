"""Clocks of the service: the real one, and one that runs faster for demonstrations."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds by which the clocks may drift apart between two calls without being a jump. NTP adjusts by less.
_TOLERANCE = 2.0


class RealClock:
    """The system's clock."""

    def now(self) -> int:
        """Return the seconds since the epoch."""
        return int(time.time())

    def seconds_until(self, instant: int) -> float:
        """Return the real seconds until an instant, or 0 if it has passed."""
        return max(0.0, instant - time.time())


class AcceleratedClock:
    """A clock that runs a fixed factor faster than the real one.

    :param start: instant that it shows now
    :param speed: seconds by which it advances in a real second
    """

    def __init__(self, start: int, speed: float) -> None:
        self._start = start
        self._speed = speed
        self._begun = time.monotonic()

    def now(self) -> int:
        """Return the present instant."""
        return int(self._now())

    def _now(self) -> float:
        return self._start + (time.monotonic() - self._begun) * self._speed

    def seconds_until(self, instant: int) -> float:
        """Return the real seconds until an instant, or 0 if it has passed."""
        return max(0.0, (instant - self._now()) / self._speed)


class JumpWatch:
    """Detects that the system's clock was set, or that the machine slept. The monotonic clock shows neither.

    :param wall: returns the seconds since the epoch, from a clock that can be set
    :param steady: returns seconds from a clock that cannot be set
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._steady = steady
        self._offset = wall() - steady()

    def jump(self) -> float:
        """Return the seconds by which the clock jumped since the last call: negative if back, 0 if it did not jump."""
        offset = self._wall() - self._steady()
        jumped, self._offset = offset - self._offset, offset
        return jumped if abs(jumped) > _TOLERANCE else 0.0
