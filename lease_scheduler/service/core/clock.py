"""Clocks of the service: the real one, one that runs faster for demonstrations, and one that is moved from outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from lease_scheduler.engine.interfaces import WaitingClock

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


@dataclass(frozen=True)
class RealTime:
    """Real time, in which the service waits for other programs, whatever the clock of the site shows.

    :ivar wall: returns the seconds since the epoch, from a clock that can be set
    :ivar steady: returns seconds from a clock that cannot be set
    :ivar longest_wait: maximum real seconds between two checks of the clock of the site, or None if it is never set. A
        wait does not notice that the clock is set, and does not count the time for which the machine sleeps
    """

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    longest_wait: float | None = 2.0


class VirtualClock:
    """A clock that stands still until it is moved. Real time, as the service sees it, follows it too.

    :param instant: instant that it shows first
    """

    def __init__(self, instant: float) -> None:
        self._instant = float(instant)

    def move_to(self, instant: float) -> None:
        """Move the clock."""
        self._instant = float(instant)

    def seconds(self) -> float:
        """Return the present instant with its fraction."""
        return self._instant

    def now(self) -> int:
        """Return the present instant."""
        return int(self._instant)

    def seconds_until(self, instant: int) -> float:
        """Return the seconds until an instant, or 0 if it has passed."""
        return max(0.0, instant - self._instant)


def real_time(clock: WaitingClock) -> RealTime:
    """Return the real time beside a clock: that of the system, unless the clock is virtual."""
    return RealTime(clock.seconds, clock.seconds, None) if isinstance(clock, VirtualClock) else RealTime()


class JumpWatch:
    """Detector of a system clock that was set and of a machine that slept. The monotonic clock shows neither.

    :param real: real time
    """

    def __init__(self, real: RealTime) -> None:
        self._wall, self._steady = real.wall, real.steady
        self._offset = self._wall() - self._steady()

    def jump(self) -> float:
        """Return the seconds by which the clock jumped since the last call: negative if back, 0 if it did not jump."""
        offset = self._wall() - self._steady()
        jumped, self._offset = offset - self._offset, offset
        return jumped if abs(jumped) > _TOLERANCE else 0.0
