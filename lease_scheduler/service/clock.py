"""Clocks of the service: the real one, and one that runs faster for demonstrations."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds by which the clocks may differ between two looks; adjustments of NTP are smaller.
_TOLERANCE = 2.0


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


class JumpWatch:
    """Notices that the system's clock was set, or that the machine slept: the monotonic clock does neither.

    :param wall: seconds since the epoch, as somebody may set them
    :param steady: seconds that nobody sets
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._steady = steady
        self._offset = wall() - steady()

    def jump(self) -> float:
        """Return by how many seconds the clock has jumped since the last call, negative if it was set back."""
        offset = self._wall() - self._steady()
        jumped, self._offset = offset - self._offset, offset
        return jumped if abs(jumped) > _TOLERANCE else 0.0
