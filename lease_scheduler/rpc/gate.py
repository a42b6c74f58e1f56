"""How many requests may wait for the engine at the same time, so that one that is stuck does not take all threads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from lease_scheduler.model.errors import EngineUnavailableError

#: Seconds without any answer, while requests wait, after which an engine is thought to be stuck.
SILENCE = 3.0


class Gate:
    """Lets some requests through at a time; others wait for a turn as long as the engine answers at all.

    :param places: requests that may wait for the engine at the same time
    :param silence: seconds without an answer after which no more requests wait for a turn
    """

    def __init__(self, places: int, silence: float = SILENCE) -> None:
        self._places = places
        self._silence = silence
        self._changed = Condition()
        self._waiting = 0
        # When the engine answered last, or had nothing to answer.
        self._answered = time.monotonic()

    @contextmanager
    def turn(self, seconds: float) -> Iterator[None]:
        """Take a place for the block.

        :param seconds: how long to wait for one at most
        :raises EngineUnavailableError: there is none, and there will hardly be one soon
        """
        end = time.monotonic() + seconds
        with self._changed:
            if not self._waiting:
                self._answered = time.monotonic()
            while self._waiting >= self._places:
                left = min(end, self._answered + self._silence) - time.monotonic()
                if left <= 0:
                    raise EngineUnavailableError(
                        f"the engine has not answered for a while, and {self._waiting} requests wait for it; try again"
                    )
                self._changed.wait(left)
            self._waiting += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify()

    def answered(self) -> None:
        """The engine has answered some request."""
        with self._changed:
            self._answered = time.monotonic()
