"""The simulated clock: it jumps from event to event (haizea F18)."""

from __future__ import annotations


class SimulatedClock:
    """Stands still until it is set.

    :param now: the instant at which it begins
    """

    def __init__(self, now: int = 0) -> None:
        self._now = now

    def now(self) -> int:
        """The present instant."""
        return self._now

    def set(self, instant: int) -> None:
        """Jump forward to an instant.

        :raises ValueError: it lies in the past
        """
        if instant < self._now:
            raise ValueError(f"time does not run backwards: {instant} is before {self._now}")
        self._now = instant
