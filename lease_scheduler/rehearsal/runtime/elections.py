"""Coordination service of a world, with leases that expire, and its driver of tooz: ``rehearsal://``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tooz import coordination, locking

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler

#: True seconds after which the session of a member ends that gives no sign of life.
LIFETIME = 10.0


class ElectionService:
    """Locks that belong to sessions. A session ends when its member has not renewed it for ``LIFETIME``.

    :ivar is_away: tells whether a process cannot reach the service; may be replaced at any time
    """

    #: Its address among the services of a world.
    ADDRESS = "elections"

    def __init__(self, scheduler: Scheduler) -> None:
        self.is_away: Callable[[Process], bool] = lambda process: False
        self._scheduler = scheduler
        self._ends: dict[bytes, float] = {}
        self._owners: dict[bytes, bytes] = {}
        scheduler.services[self.ADDRESS] = self

    def renew(self, member: bytes) -> None:
        """Begin the session of a member, or prolong it. Locks of a session that has ended are lost."""
        self._drop_locks_of_ended()
        self._ends[member] = self._scheduler.now + LIFETIME

    def end(self, member: bytes) -> None:
        """End the session of a member."""
        self._ends.pop(member, None)
        self._drop_locks_of_ended()

    def owner(self, lock: bytes) -> bytes | None:
        """Return the member that has a lock, or None."""
        self._drop_locks_of_ended()
        return self._owners.get(lock)

    def take(self, lock: bytes, member: bytes) -> bool:
        """Give a lock to a member that has a session, and return whether it has it."""
        if self.owner(lock) is None and member in self._ends:
            self._owners[lock] = member
            self._scheduler.trace.note(f"{self._scheduler.now:.6f} {member.decode()} has lock {lock.decode()}")
        return self._owners.get(lock) == member

    def release(self, lock: bytes, member: bytes) -> bool:
        """Take a lock from a member, and return whether it had it."""
        if self.owner(lock) != member:
            return False
        del self._owners[lock]
        return True

    def _drop_locks_of_ended(self) -> None:
        now = self._scheduler.now
        self._ends = {member: end for member, end in self._ends.items() if end > now}
        self._owners = {lock: member for lock, member in self._owners.items() if member in self._ends}


class _Lock(locking.Lock):
    """A lock of a member."""

    def __init__(self, name: bytes, driver: RehearsalCoordinator) -> None:
        super().__init__(name)
        self._driver = driver

    def acquire(self, blocking: bool = True, shared: bool = False, timeout: int | None = None) -> bool:
        """Take the lock if it is free.

        :raises NotImplementedError: the caller wants to wait or to share it, which no engine does
        """
        if blocking or shared:
            raise NotImplementedError("locks of a rehearsal are exclusive, and nobody waits for them")
        return self._driver.service().take(self.name, self._driver.member)

    def release(self) -> bool:
        """See ``tooz.locking.Lock``."""
        return self._driver.service().release(self.name, self._driver.member)


class RehearsalCoordinator(coordination.CoordinationDriver):
    """Driver of tooz for the coordination service of the running world.

    :raises NoWorldError: no world runs
    """

    def __init__(self, member_id: bytes, parsed_url: Any, options: dict[str, Any]) -> None:
        super().__init__(member_id, parsed_url, options)
        self.member = member_id
        self._scheduler = current.scheduler()

    def service(self) -> ElectionService:
        """Return the service, after the time of a round trip.

        :raises ToozConnectionError: the calling process cannot reach it
        """
        self._scheduler.pause()
        found: Any = self._scheduler.services[ElectionService.ADDRESS]
        assert isinstance(found, ElectionService)
        thread = self._scheduler.current
        if thread is None or not thread.process.is_alive or found.is_away(thread.process):
            raise coordination.ToozConnectionError("the coordination service does not answer")
        return found

    def _start(self) -> None:
        self.service().renew(self.member)

    def _stop(self) -> None:
        self.service().end(self.member)

    def heartbeat(self) -> float:
        """Prolong the session, and return its lifetime. tooz calls this again after half of it."""
        self.service().renew(self.member)
        return LIFETIME

    def get_lock(self, name: bytes) -> locking.Lock:
        """See ``CoordinationDriver.get_lock``."""
        return _Lock(name, self)
