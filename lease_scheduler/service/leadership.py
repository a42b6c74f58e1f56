"""Several engines, one of which leads: election by a lock, fencing by the store (architecture, section 6)."""

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

#: Real seconds between two looks at the lock, between two signs of life, and between two attempts to build the plan.
_PAUSE = 1.0

#: Real seconds without a sign of life after which another engine leads although it does not get the lock. A process
#: that hangs keeps its lock, in a file and in MySQL at least, for as long as its connection is there.
PATIENCE = 15.0


#: Real seconds for which a deposed engine stays away from the lock, so that whoever leads without it may take it.
_PAUSE_OF_THE_DEPOSED = 5.0


#: Real seconds between two lines about one and the same reason why this engine cannot lead.
_BETWEEN_COMPLAINTS = 60.0


class Lock(Protocol):
    """A lock that all engines of a site share (tooz)."""

    def acquire(self, blocking: Any = True) -> bool:
        """Take it; false if somebody else has it."""
        ...

    def release(self) -> bool:
        """Give it back."""
        ...


class Leader(Protocol):
    """What leads: made when the lock is taken, closed before it is given back."""

    def close(self) -> None:
        """Stop to lead."""
        ...


class Silence:
    """For how long nothing has been seen to change.

    Whoever looks needs no clock in common with whoever lives: only that something changes counts.

    :param look: what changes as long as somebody lives
    """

    def __init__(self, look: Callable[[], object]) -> None:
        self._look = look
        self._seen: object = None
        self._since = monotonic()

    def seconds(self) -> float:
        """Real seconds since the last change that was seen; 0 after a look that failed, which says nothing."""
        try:
            seen = self._look()
        except Exception:
            seen = None
        if seen is None or seen != self._seen:
            self._seen, self._since = seen, monotonic()
        return monotonic() - self._since


class _Complaints:
    """Tells why this engine cannot lead: an error in full when it is a new one, then in a line now and then."""

    def __init__(self) -> None:
        self._last = ""
        self._told = 0.0
        self._attempts = 0

    def tell(self, error: Exception) -> None:
        """Log an error, unless the same was logged not long ago."""
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
        """It leads, or another one does."""
        self._last = ""


class Leadership:
    """A thread that leads whenever it can: when it has the lock, or whoever has it shows no sign of life.

    :param make_lock: makes the lock that all engines of the site share; called again after it could not be given back
    :param lead: builds and starts what leads; told whom to call when that cannot go on
    :param heartbeat: gives a sign of life, every second from before ``lead`` on; false if this engine may not go on
    :param look: what changes with every sign of life of whoever leads, none if nobody has ever led
    :param patience: real seconds without a sign of life after which the lock does not count
    """

    def __init__(
        self,
        make_lock: Callable[[], Lock],
        lead: Callable[[Callable[[], None]], Leader],
        heartbeat: Callable[[], bool],
        look: Callable[[], object],
        patience: float = PATIENCE,
    ) -> None:
        self._make_lock = make_lock
        self._lock: Lock | None = None
        self._has_lock = False
        self._lead = lead
        self._heartbeat = heartbeat
        self._silence = Silence(look)
        self._patience = patience
        self._broken = Event()
        self.is_leading = Event()
        self._complaints = _Complaints()
        self._worker = Worker("leadership", self._try, _PAUSE, self._complaints.tell)

    def start(self) -> None:
        """Begin to try."""
        self._worker.start()

    def stop(self) -> None:
        """Stop leading, and do not try again."""
        self._worker.ask_to_stop()
        self._broken.set()
        self._worker.join()

    def wait_for_stop(self, seconds: float) -> None:
        """Wait, unless it is told to stop."""
        self._worker.wait_for_stop(seconds)

    def _try(self) -> float:
        """Lead until that ends, if it can; return the pause until it is tried again."""
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
            # The connection is lost and the lock with it; some drivers would go on to think that they have it.
            LOG.warning("the lock could not be given back", exc_info=True)
            self._lock = None

    def _is_deposed(self) -> bool:
        """Whether another engine has taken over; not known while the database does not answer."""
        with suppress(Exception):
            return not self._heartbeat()
        return False

    def _lead_until_broken(self) -> None:
        self._broken.clear()
        if self._worker.is_stopping:
            return
        if not self._has_lock:
            LOG.warning("whoever has the lock gives no sign of life; this engine leads without it")
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
        """Give signs of life meanwhile, and take the lock if it is not there yet.

        That is done by a thread of its own, because to build a large plan takes long.
        """

        def beat() -> float:
            try:
                alive = self._heartbeat()
            except Exception as error:
                LOG.warning("this engine can give no sign of life: %s", error)
                alive = False
            if not alive:
                LOG.warning("this engine may not go on to lead")
                self._broken.set()
                worker.ask_to_stop()
                return _PAUSE
            with suppress(Exception):
                # An engine that leads without the lock takes it as soon as it is free, so that others do not.
                self._take()
            return _PAUSE

        worker = Worker("heartbeat", beat, _PAUSE, first=_PAUSE)
        worker.start()
        try:
            yield
        finally:
            worker.stop()
