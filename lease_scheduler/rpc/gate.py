"""A limit on the requests that wait for the engine, so that a stuck engine does not take all threads of the API."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from lease_scheduler.model.errors import EngineUnavailableError

#: Seconds without any answer, while requests wait, after which the engine counts as stuck.
SILENCE = 3.0


class Gate:
    """A limit on the requests that wait for the engine at a time. Others wait for a turn while the engine gives
    answers.

    :param places: maximum number of requests that wait for the engine at the same time
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

        :param seconds: maximum time to wait for a place
        :raises EngineUnavailableError: no place became free in time, or the engine counts as stuck
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
        """Note that the engine has answered a request."""
        with self._changed:
            self._answered = time.monotonic()
