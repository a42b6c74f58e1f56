"""Workers: the service's work that no request asks for, done in rounds."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import Protocol

LOG = logging.getLogger(__name__)


class FirmPause(float):
    """Seconds until the next round of a worker, which ``wake`` does not shorten."""


class Signals(Protocol):
    """Signals from a worker to its runner: it has work, or must stop."""

    @property
    def is_stopping(self) -> bool:
        """Whether the worker was asked to stop."""
        ...

    def wake(self) -> None:
        """Have the next round begin at once."""
        ...

    def ask_to_stop(self) -> None:
        """Begin no further round."""
        ...


class OwnThreads(Protocol):
    """Threads that do the work of a worker at their own pace."""

    def start(self) -> None:
        """Start them."""
        ...

    def ask_to_stop(self) -> None:
        """Ask them to begin nothing more."""
        ...

    def join(self) -> None:
        """Wait until they have finished what they have begun."""
        ...


class _EarlySignals:
    """Signals of a worker that has no runner yet. They are kept for its first runner."""

    def __init__(self) -> None:
        self.is_woken = False
        self.is_stopping = False

    def wake(self) -> None:
        self.is_woken = True

    def ask_to_stop(self) -> None:
        self.is_stopping = True


class UpkeepWorker(ABC):
    """Work that is done in rounds. It has no thread: a runner (``service.runners``) has its rounds done when due.

    :param name: name of the worker, and of its thread if it gets one
    :param retry: seconds to wait after a round that raised an error
    :param first: seconds to wait before the first round
    :ivar patience: seconds for which a stop waits for the current round; None for no limit
    """

    def __init__(self, name: str, retry: float, first: float = 0.0) -> None:
        self.name, self.retry, self.first = name, retry, first
        self.patience: float | None = None
        self._signals: Signals = _EarlySignals()

    def prepare(self) -> bool:
        """Prepare the first round, and return whether there will be any."""
        return True

    @abstractmethod
    def round(self, now: float) -> float | None:
        """Do a round of work.

        :param now: seconds of a clock that cannot be set; only differences mean something
        :return: seconds until the next round, or None to wait for ``wake``. ``wake`` shortens them unless they are a
            ``FirmPause``
        """

    def own_threads(self) -> OwnThreads | None:
        """Return the threads that do the work unless it is stepped, or None if one thread does its rounds."""
        return None

    def failed(self, error: Exception) -> None:
        """Log the error that a round has raised. The next round follows after ``retry``."""
        LOG.error("a round of %s has failed; it is tried again", self.name, exc_info=error)

    def ended(self) -> None:
        """Clean up after the last round, or when there was none."""
        return

    def wake(self) -> None:
        """Have the next round begin at once. It sees everything that was stored before this call."""
        self._signals.wake()

    @property
    def is_stopping(self) -> bool:
        """Whether no further round begins. A long round should check this."""
        return self._signals.is_stopping

    def ask_to_stop(self) -> None:
        """Begin no further round. A round may call this, too."""
        self._signals.ask_to_stop()

    def run_by(self, signals: Signals) -> None:
        """Send signals to a runner from now on, beginning with those that it has missed."""
        missed, self._signals = self._signals, signals
        if isinstance(missed, _EarlySignals) and missed.is_woken:
            signals.wake()
        if missed.is_stopping:
            signals.ask_to_stop()
