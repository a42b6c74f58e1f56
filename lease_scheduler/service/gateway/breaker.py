"""A circuit breaker for each member, by the clock of the gateway.

The known libraries read the clock of the machine, so that nothing that uses them could be stepped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

#: Calls without an answer, in a row, after which a member is left alone.
_MOST = 5
#: Seconds for which it is left alone.
_PAUSE = 30


class Condition(StrEnum):
    """How a member answers; the value is the word in the REST interface."""

    #: It was not called yet.
    UNKNOWN = "unknown"
    #: It has answered the last call.
    ANSWERING = "answering"
    #: It has not answered the last call or calls, and is called on.
    FAILING = "failing"
    #: It is left alone, as it has not answered for several calls.
    PAUSED = "paused"


@dataclass(frozen=True)
class Reachability:
    """How a member answers the calls of this process.

    :ivar last_answer: instant of its last answer; None if there was none
    """

    condition: Condition
    last_answer: int | None


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
        self._last_answer: int | None = None

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
                self._last_answer = self._now()
                return
            self._failures += 1
            self._closed_until = self._now() + self._pause

    def reachability(self) -> Reachability:
        """Return how the member answers."""
        with self._lock:
            if self._failures >= self._most and self._now() < self._closed_until:
                condition = Condition.PAUSED
            elif self._failures:
                condition = Condition.FAILING
            else:
                condition = Condition.UNKNOWN if self._last_answer is None else Condition.ANSWERING
            return Reachability(condition, self._last_answer)
