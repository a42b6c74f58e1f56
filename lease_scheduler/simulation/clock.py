"""The simulated clock, which jumps from event to event (haizea F18)."""

from __future__ import annotations


class SimulatedClock:
    """A clock that stands still until it is set.

    :param now: the first instant
    """

    def __init__(self, now: int = 0) -> None:
        self._now = now

    def now(self) -> int:
        """Return the present instant."""
        return self._now

    def set(self, instant: int) -> None:
        """Jump forward to an instant.

        :raises ValueError: the instant lies in the past
        """
        if instant < self._now:
            raise ValueError(f"time does not run backwards: {instant} is before {self._now}")
        self._now = instant
