"""A thread that does its work in rounds until it is told to stop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread

LOG = logging.getLogger(__name__)


def _log_error(error: Exception) -> None:
    LOG.error("a round of a thread has failed; it is tried again", exc_info=error)


class Worker:
    """Thread that does a round of work, waits, and does the next one.

    :param name: name of the thread
    :param work: does one round. It returns the real seconds to wait before the next one, or None to wait for ``wake``.
        It may end the thread with ``ask_to_stop``
    :param retry: real seconds to wait after a round that raised an error
    :param on_error: called with the error; an error does not end the thread
    :param first: real seconds to wait before the first round
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], float | None],
        retry: float,
        on_error: Callable[[Exception], None] = _log_error,
        first: float = 0.0,
    ) -> None:
        self._work = work
        self._retry = retry
        self._on_error = on_error
        self._first = first
        self._woken = Event()
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Have the next round start at once. It sees everything that was stored before this call."""
        self._woken.set()

    @property
    def is_stopping(self) -> bool:
        """Whether the thread was asked to stop. A long round should check this."""
        return self._stopping.is_set()

    def ask_to_stop(self) -> None:
        """Ask the thread to begin no further round. Does not wait for the current one."""
        self._stopping.set()
        self._woken.set()

    def join(self, seconds: float | None = None) -> None:
        """Wait until the thread has ended, if it was started.

        :param seconds: maximum real seconds to wait; None for no limit
        """
        if self._thread.is_alive():
            self._thread.join(seconds)

    def stop(self) -> None:
        """Begin no further round, and wait for the current one."""
        self.ask_to_stop()
        self.join()

    def wait_for_stop(self, seconds: float) -> bool:
        """Wait within a round until the thread is asked to stop, and return whether it was.

        :param seconds: maximum real seconds to wait; ``wake`` does not shorten this
        """
        return self._stopping.wait(seconds)

    def _run(self) -> None:
        pause: float | None = self._first
        while not self._stopping.is_set():
            if pause != 0.0:
                self._woken.wait(pause)
            # Clear before the work, so that a wake-up during the round causes another one.
            self._woken.clear()
            if self._stopping.is_set():
                return
            try:
                pause = self._work()
            except Exception as error:
                self._on_error(error)
                pause = self._retry
