"""Locks of simulated threads. ``threading`` builds conditions, events, semaphores, queues and pools on them."""

from __future__ import annotations

from collections import deque
from types import TracebackType

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.scheduler import GreenThread

#: Owner of a lock that is taken outside of simulated threads.
_OUTSIDE = object()


class GreenLock:
    """A lock, as ``threading.Lock``. The thread that has waited longest gets it next.

    :param may_pause: whether a thread that takes it may let others run first (see ``Scheduler``)
    :ivar owner: the thread that took it, or another object if it was taken outside of threads; None if it is free
    """

    __slots__ = ("__weakref__", "_may_pause", "_waiting", "owner")

    def __init__(self, may_pause: bool = False) -> None:
        self.owner: object = None
        self._may_pause = may_pause
        self._waiting: deque[GreenThread] | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """See ``threading.Lock``.

        :raises RuntimeError: it is taken, and the caller is no thread of the world, so it cannot wait
        """
        thread = current.thread()
        if self._may_pause and thread is not None:
            current.scheduler().pause_by_chance()
        if self.owner is None:
            self.owner = _OUTSIDE if thread is None else thread
            return True
        if not blocking or timeout == 0:
            return False
        if thread is None:
            raise RuntimeError("a lock that a thread of the world has cannot be waited for outside of threads")
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(thread)
        seconds = None if timeout < 0 else thread.process.clock.true_seconds(timeout)
        current.scheduler().park(seconds)
        # ``release`` may have made this thread the owner even though its time is over, before it could go on.
        if thread not in self._waiting:
            return True
        self._waiting.remove(thread)
        return False

    def release(self) -> None:
        """See ``threading.Lock``.

        :raises RuntimeError: it is free
        """
        if self.owner is None:
            raise RuntimeError("release unlocked lock")
        self.owner = None
        while self._waiting:
            thread = self._waiting.popleft()
            if thread.is_alive:
                self.owner = thread
                current.scheduler().wake(thread)
                return

    def locked(self) -> bool:
        """Return whether it is taken."""
        return self.owner is not None

    def _at_fork_reinit(self) -> None:
        """Be free. Modules that are loaded in a world have Python call this in children of the real process."""
        self.owner, self._waiting = None, None

    def release_of_dead(self) -> None:
        """Release it if a thread of a killed process has it."""
        if isinstance(self.owner, GreenThread) and not self.owner.process.is_alive:
            self.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.release()


class GreenRLock:
    """A lock that its owner can take again, as ``threading.RLock``.

    :param may_pause: see ``GreenLock``
    """

    __slots__ = ("__weakref__", "_count", "_lock")

    def __init__(self, may_pause: bool = False) -> None:
        self._lock = GreenLock(may_pause)
        self._count = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """See ``threading.RLock``."""
        if self._is_owned():
            self._count += 1
            return True
        if not self._lock.acquire(blocking, timeout):
            return False
        self._count = 1
        return True

    def release(self) -> None:
        """See ``threading.RLock``.

        :raises RuntimeError: another thread has it, or none
        """
        if not self._is_owned():
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1
        if not self._count:
            self._lock.release()

    def _at_fork_reinit(self) -> None:
        """See ``GreenLock``."""
        self._lock._at_fork_reinit()
        self._count = 0

    def release_of_dead(self) -> None:
        """Release it if a thread of a killed process has it."""
        self._lock.release_of_dead()

    def locked(self) -> bool:
        """Return whether it is taken."""
        return self._lock.locked()

    # These three are what threading.Condition asks of a lock that can be taken again.

    def _is_owned(self) -> bool:
        owner = self._lock.owner
        return owner is not None and owner is (current.thread() or _OUTSIDE)

    def _release_save(self) -> int:
        taken, self._count = self._count, 0
        self._lock.release()
        return taken

    def _acquire_restore(self, taken: int) -> None:
        self._lock.acquire()
        self._count = taken

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.release()
