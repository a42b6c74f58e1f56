"""Several engines, one of which leads: election by a lock, fencing by the store (architecture, section 6)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Any, Protocol

LOG = logging.getLogger(__name__)

#: Real seconds between two looks at the lock, and between two attempts to build the plan.
_PAUSE = 1.0


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


class Leadership:
    """A thread that leads whenever it can.

    :param lock: shared by all engines of the site
    :param lead: builds and starts what leads; told whom to call when that cannot go on
    :param heartbeat: whether this engine may go on to lead, asked every second
    """

    def __init__(self, lock: Lock, lead: Callable[[Callable[[], None]], Leader], heartbeat: Callable[[], bool]) -> None:
        self._lock = lock
        self._lead = lead
        self._heartbeat = heartbeat
        self._stopped = Event()
        self._broken = Event()
        self.is_leading = Event()
        self._thread = Thread(target=self._run, name="leadership", daemon=True)

    def start(self) -> None:
        """Begin to try."""
        self._thread.start()

    def stop(self) -> None:
        """Stop to lead, and do not try again."""
        self._stopped.set()
        self._broken.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._lock.acquire(blocking=False):
                    try:
                        self._lead_until_broken()
                    finally:
                        self._lock.release()
            except Exception:
                LOG.exception("this engine cannot lead; it tries again")
            self._stopped.wait(_PAUSE)

    def _lead_until_broken(self) -> None:
        self._broken.clear()
        if self._stopped.is_set():
            return
        leader = self._lead(self._broken.set)
        LOG.info("this engine leads")
        self.is_leading.set()
        try:
            while not self._broken.wait(_PAUSE):
                if not self._heartbeat():
                    LOG.warning("this engine was deposed")
                    return
        finally:
            self.is_leading.clear()
            leader.close()
            LOG.info("this engine does not lead any more")
