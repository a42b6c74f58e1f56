"""A thread that does its work in rounds until it is told to stop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread

LOG = logging.getLogger(__name__)


def _log_error(error: Exception) -> None:
    LOG.error("a round of a thread has failed; it is tried again", exc_info=error)


class Worker:
    """Does a round of work, waits, and does the next one.

    :param name: of the thread
    :param work: does one round, and returns how many real seconds to wait until the next one, or None to wait until
        somebody wakes it. It may end the thread with ``ask_to_stop``
    :param retry: seconds to wait after a round that raised an error
    :param on_error: told the error, which does not end the thread
    :param first: seconds to wait before the first round
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
        """Begin with the first round."""
        self._thread.start()

    def wake(self) -> None:
        """Have the next round done at once; what is noted before this is called is seen by it."""
        self._woken.set()

    @property
    def is_stopping(self) -> bool:
        """Whether the thread was asked to stop; a long round looks at this."""
        return self._stopping.is_set()

    def ask_to_stop(self) -> None:
        """Begin no further round."""
        self._stopping.set()
        self._woken.set()

    def join(self) -> None:
        """Wait for the present round, if any."""
        if self._thread.is_alive():
            self._thread.join()

    def stop(self) -> None:
        """Begin no further round, and wait for the present one."""
        self.ask_to_stop()
        self.join()

    def wait_for_stop(self, seconds: float) -> bool:
        """Wait within a round, for so many seconds at most, and return whether the thread was asked to stop.

        Nobody cuts this short who wakes the thread.
        """
        return self._stopping.wait(seconds)

    def _run(self) -> None:
        pause: float | None = self._first
        while not self._stopping.is_set():
            if pause != 0.0:
                self._woken.wait(pause)
            # Before the work, so that what comes meanwhile causes another round.
            self._woken.clear()
            if self._stopping.is_set():
                return
            try:
                pause = self._work()
            except Exception as error:
                self._on_error(error)
                pause = self._retry
