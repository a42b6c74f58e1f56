"""Cache of answers, which are valid for a short time unless something changes."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Answers by key, valid for some seconds.

    The answer to a request that was under way during a change may be older than the change, so it is not kept. To
    detect this, the caller takes a mark before the request.

    :param seconds: real seconds for which an answer is valid
    :param clock: returns real seconds
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._changes = 0
        self._answers: dict[Key, tuple[Value, float]] = {}

    def mark(self) -> int:
        """Return the number of changes so far. Call this before a request."""
        with self._lock:
            return self._changes

    def get(self, key: Key) -> Value | None:
        """Return the valid answer for a key, or None."""
        with self._lock:
            answer, until = self._answers.get(key, (None, 0.0))
            return answer if self._clock() < until else None

    def put(self, key: Key, answer: Value, mark: int) -> None:
        """Keep an answer, unless something changed since the mark."""
        with self._lock:
            if mark == self._changes:
                self._answers[key] = (answer, self._clock() + self._seconds)

    def change(self, key: Key, answer: Value | None = None, mark: int | None = None) -> None:
        """Drop the answer for a key that changed, and keep the one that came with the change.

        :param answer: answer to the change itself, or None
        :param mark: mark that was taken before the change; the answer is kept if this is the only change since
        """
        with self._lock:
            is_only = mark == self._changes
            self._changes += 1
            self._answers.pop(key, None)
            if is_only and answer is not None:
                self._answers[key] = (answer, self._clock() + self._seconds)

    def clear(self) -> None:
        """Drop all answers."""
        with self._lock:
            self._answers.clear()
