"""Answers that still hold, because they were given a moment ago and nothing was changed since."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Answers by key, for some seconds at most.

    An answer to a question that was under way while something was changed may be older than the change, and is not
    kept. Whoever asks takes a mark first.

    :param seconds: for which an answer holds
    :param clock: gives real seconds
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._changes = 0
        self._answers: dict[Key, tuple[Value, float]] = {}

    def mark(self) -> int:
        """How many changes there have been; to be taken before a question is asked."""
        with self._lock:
            return self._changes

    def get(self, key: Key) -> Value | None:
        """The answer for a key, none if there is none that still holds."""
        with self._lock:
            answer, until = self._answers.get(key, (None, 0.0))
            return answer if self._clock() < until else None

    def put(self, key: Key, answer: Value, mark: int) -> None:
        """Keep an answer, unless something was changed since the mark."""
        with self._lock:
            if mark == self._changes:
                self._answers[key] = (answer, self._clock() + self._seconds)

    def change(self, key: Key, answer: Value | None = None, mark: int | None = None) -> None:
        """Keep no answer for a key that was changed, but the one that came with the change.

        :param answer: to the change itself, none if there is none
        :param mark: taken before the change; the answer is kept if this is the only change since
        """
        with self._lock:
            is_only = mark == self._changes
            self._changes += 1
            self._answers.pop(key, None)
            if is_only and answer is not None:
                self._answers[key] = (answer, self._clock() + self._seconds)

    def clear(self) -> None:
        """Keep none of the answers."""
        with self._lock:
            self._answers.clear()
