"""Cache of answers, which are valid for a short time unless something changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

from cachetools import TTLCache

Key = TypeVar("Key")
Value = TypeVar("Value")

#: Seconds after which a change is forgotten. No request takes that long.
_FORGOTTEN_AFTER = 600.0


class Recent(Generic[Key, Value]):
    """Answers by key, valid for some seconds.

    The answer to a request that was under way while its key changed may be older than the change, so it is not kept. To
    detect this, the caller takes a mark before the request. Changes of other keys do not count, because while many
    leases start, something changes all the time, and the cache is needed most.

    :param seconds: real seconds for which an answer is valid
    :param clock: returns real seconds
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._lock = Lock()
        self._changes = 0
        self._answers: TTLCache[Key, Value] = TTLCache(math.inf, seconds, clock)
        #: Key -> number of its last change.
        self._changed: TTLCache[Key, int] = TTLCache(math.inf, _FORGOTTEN_AFTER, clock)

    def mark(self) -> int:
        """Return the number of changes so far. Call this before a request."""
        with self._lock:
            return self._changes

    def get(self, key: Key) -> Value | None:
        """Return the valid answer for a key, or None."""
        with self._lock:
            return self._answers.get(key)

    def put(self, key: Key, answer: Value, mark: int) -> None:
        """Keep an answer, unless its key changed since the mark."""
        with self._lock:
            if self._is_unchanged(key, mark):
                self._answers[key] = answer

    def change(self, key: Key, answer: Value | None = None, mark: int | None = None) -> None:
        """Note that a key changed: drop its answer, and keep the one that came with the change.

        :param answer: answer to the change itself, or None
        :param mark: mark that was taken before the change; the answer is kept if this is the only change since
        """
        with self._lock:
            is_only = mark is not None and self._is_unchanged(key, mark)
            self._changes += 1
            self._changed[key] = self._changes
            self._answers.pop(key, None)
            if is_only and answer is not None:
                self._answers[key] = answer

    def clear(self) -> None:
        """Drop all answers."""
        with self._lock:
            self._answers.clear()

    def _is_unchanged(self, key: Key, mark: int) -> bool:
        return self._changed.get(key, 0) <= mark
