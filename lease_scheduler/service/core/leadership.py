"""Leadership among several engines: a lock elects the one that leads, and the store fences off the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from time import monotonic
from typing import Any, Protocol

from lease_scheduler.model.errors import StoreFullError
from lease_scheduler.worker import Worker

LOG = logging.getLogger(__name__)

#: Real seconds between two attempts to get the lock, and between two attempts to lead.
_PAUSE = 1.0

#: Real seconds between two signs of life, and between two looks at those of another engine.
SIGN_INTERVAL = 3.0

#: Real seconds without a sign of life after which another engine leads although it does not get the lock. A process
#: that hangs keeps its lock while its connection exists, at least with files and MySQL.
PATIENCE = 15.0


#: Real seconds for which a deposed engine does not take the lock, so that the engine that leads without it can.
_PAUSE_OF_THE_DEPOSED = 5.0


#: Real seconds between two log lines with the same reason why this engine cannot lead.
_BETWEEN_COMPLAINTS = 60.0


class Lock(Protocol):
    """A lock that all engines of a site share (tooz)."""

    def acquire(self, blocking: Any = True) -> bool:
        """Take the lock. Return False if another engine has it."""
        ...

    def release(self) -> bool:
        """Release the lock."""
        ...


class Leader(Protocol):
    """The parts of an engine that exist only while it leads. They are closed before the lock is released."""

    def close(self) -> None:
        """Stop leading."""
        ...


class Silence:
    """Measures for how long an engine has given no sign of life.

    The engines need no common clock, because a sign of life is any change of a value.

    :param look: returns a value that changes while the other engine lives, or None if it is not known
    :param interval: real seconds between two looks while the other engine lives
    """

    def __init__(self, look: Callable[[], object], interval: float = SIGN_INTERVAL) -> None:
        self._look = look
        self._interval = interval
        self._seen: object = None
        self._since = monotonic()
        self._has_sign = False

    def seconds(self) -> float:
        """Return the real seconds since the last change, or 0 if the value cannot be read, which proves nothing."""
        if self._has_sign and monotonic() - self._since < self._interval:
            return 0.0
        try:
            seen = self._look()
        except Exception:
            seen = None
        # Once a look has found no new sign, each call looks, so that the first one after it is not missed.
        self._has_sign = seen is None or seen != self._seen
        if self._has_sign:
            self._seen, self._since = seen, monotonic()
        return monotonic() - self._since


class _Complaints:
    """Logs why this engine cannot lead: a new error in full, a repeated one in a line at intervals."""

    def __init__(self) -> None:
        self._last = ""
        self._told = 0.0
        self._attempts = 0

    def tell(self, error: Exception) -> None:
        """Log an error, unless the same one was logged recently."""
        first = (str(error).splitlines() or [""])[0]
        what = f"{type(error).__name__}: {first}"
        self._attempts += 1
        if isinstance(error, StoreFullError):
            what = str(error)
        if what != self._last:
            self._last, self._told, self._attempts = what, monotonic(), 1
            known = isinstance(error, StoreFullError)
            LOG.error("this engine cannot lead; it tries again: %s", what, exc_info=None if known else error)
        elif monotonic() - self._told >= _BETWEEN_COMPLAINTS:
            self._told = monotonic()
            LOG.error("this engine cannot lead, after %d attempts; it tries again: %s", self._attempts, what)

    def forget(self) -> None:
        """Forget the last error, because some engine can lead."""
        self._last = ""


class Leadership:
    """Thread that leads when it can: when it has the lock, or when the engine that has it gives no sign of life.

    :param make_lock: makes the lock that all engines of the site share. Called again if the lock could not be released
    :param lead: builds and starts the leader. Its argument is the function to call when the leader cannot continue
    :param heartbeat: gives a sign of life, and returns False if this engine must not continue. Called regularly, from
        before ``lead`` on
    :param look: returns a value that changes with every sign of life of the engine that leads, or None if no engine has
        led yet
    :param patience: real seconds without a sign of life after which the lock is ignored
    :param interval: real seconds between two signs of life, and between two looks at those of another engine
    :ivar is_leading: set while this engine leads
    """

    def __init__(
        self,
        make_lock: Callable[[], Lock],
        lead: Callable[[Callable[[], None]], Leader],
        heartbeat: Callable[[], bool],
        look: Callable[[], object],
        patience: float = PATIENCE,
        interval: float = SIGN_INTERVAL,
    ) -> None:
        self._make_lock = make_lock
        self._lock: Lock | None = None
        self._has_lock = False
        self._lead = lead
        self._heartbeat = heartbeat
        self._silence = Silence(look, interval)
        self._interval = interval
        self._patience = patience
        self._broken = Event()
        self.is_leading = Event()
        self._complaints = _Complaints()
        self._worker = Worker("leadership", self._try, _PAUSE, self._complaints.tell)

    def start(self) -> None:
        """Start the thread."""
        self._worker.start()

    def stop(self) -> None:
        """Stop leading, and do not try again."""
        self._worker.ask_to_stop()
        self._broken.set()
        self._worker.join()

    def wait_for_stop(self, seconds: float) -> None:
        """Wait until the thread is asked to stop.

        :param seconds: maximum real seconds to wait
        """
        self._worker.wait_for_stop(seconds)

    def _try(self) -> float:
        """Lead if possible, until that ends. Return the real seconds until the next attempt."""
        pause = _PAUSE
        self._take()
        if self._has_lock or self._silence.seconds() > self._patience:
            try:
                self._lead_until_broken()
            finally:
                self._give_back()
            if self._is_deposed():
                pause = _PAUSE_OF_THE_DEPOSED
        self._complaints.forget()
        return pause

    def _take(self) -> None:
        if not self._has_lock:
            if self._lock is None:
                self._lock = self._make_lock()
            self._has_lock = self._lock.acquire(blocking=False)

    def _give_back(self) -> None:
        if self._lock is None or not self._has_lock:
            return
        self._has_lock = False
        try:
            self._lock.release()
        except Exception:
            # The connection and thus the lock are lost, but some drivers would believe that they still have it.
            LOG.warning("the lock could not be given back", exc_info=True)
            self._lock = None

    def _is_deposed(self) -> bool:
        """Return whether another engine has taken over; False while the database does not answer."""
        with suppress(Exception):
            return not self._heartbeat()
        return False

    def _lead_until_broken(self) -> None:
        self._broken.clear()
        if self._worker.is_stopping:
            return
        if not self._has_lock:
            LOG.warning("the engine that has the lock gives no sign of life; this engine leads without it")
        with self._alive():
            leader = self._lead(self._broken.set)
            LOG.info("this engine leads")
            self.is_leading.set()
            try:
                self._broken.wait()
            finally:
                self.is_leading.clear()
                leader.close()
                LOG.info("this engine does not lead any more")

    @contextmanager
    def _alive(self) -> Iterator[None]:
        """Give signs of life during the block, and take the lock as soon as possible if this engine does not have it.

        A separate thread does this, because building a large plan takes long.
        """

        def beat() -> float:
            try:
                alive = self._heartbeat()
            except Exception as error:
                LOG.warning("this engine could not give a sign of life: %s", error)
                alive = False
            if not alive:
                LOG.warning("this engine must stop leading")
                self._broken.set()
                worker.ask_to_stop()
                return _PAUSE
            with suppress(Exception):
                # An engine that leads without the lock must take it before another engine does.
                self._take()
            return self._interval if self._has_lock else _PAUSE

        worker = Worker("heartbeat", beat, _PAUSE, first=self._interval if self._has_lock else _PAUSE)
        worker.start()
        try:
            yield
        finally:
            worker.stop()
