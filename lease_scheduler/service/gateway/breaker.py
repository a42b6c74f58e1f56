"""A circuit breaker for each member, by the clock of the gateway.

The known libraries read the clock of the machine, so that nothing that uses them could be stepped.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

#: Calls without an answer, in a row, after which a member is left alone.
_MOST = 5
#: Seconds for which it is left alone.
_PAUSE = 30


class Breaker:
    """Keeps calls from a member that does not answer. After a pause, one call tries whether it answers again.

    :param now: returns the present instant
    """

    def __init__(self, now: Callable[[], int], most: int = _MOST, pause: int = _PAUSE) -> None:
        self._now = now
        self._most = most
        self._pause = pause
        self._lock = Lock()
        self._failures = 0
        self._closed_until = 0

    def lets_through(self) -> bool:
        """Return whether a call may be made now."""
        with self._lock:
            if self._failures < self._most:
                return True
            if self._now() < self._closed_until:
                return False
            # The others wait for what becomes of this one.
            self._closed_until = self._now() + self._pause
            return True

    def note(self, *, is_answered: bool) -> None:
        """Note whether a call was answered."""
        with self._lock:
            if is_answered:
                self._failures = 0
                return
            self._failures += 1
            self._closed_until = self._now() + self._pause
