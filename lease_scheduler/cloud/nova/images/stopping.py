"""Stops of servers at the end of their lease, before images of them are made.

A stopped server uses nothing of its host but disk space. It is locked as administrator, even if its project has locked
it before, so that its users cannot start it again.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands

#: Real seconds after which an image that users make of a server that is to stop is broken off.
_GRACE = 5

#: Maximum real seconds that a server may take to stop. Nova switches it off if it does not shut down within 60 s.
_LONGEST_STOP = 90


class Stop(Enum):
    """Progress of the stop of a server."""

    STOPPED = "stopped"
    GOING_ON = "going on"
    IMPOSSIBLE = "impossible"


class Stopping:
    """The stops of servers.

    :param nova: novaclient's client with administrator rights
    :param lost: detects commands that Nova has lost
    """

    def __init__(self, nova: Any, lost: LostCommands, locks: Locks) -> None:
        self._nova = nova
        self._lost = lost
        self._locks = locks

    def stop(self, server: Any, waited: float) -> Stop:
        """Do the next step to stop a server, and return the progress.

        :param waited: real seconds since the first call
        """
        if server.status in of.ASIDE and (of.task(server) is None or of.makes_image(server)):
            self._locks.lock(server)
            return Stop.STOPPED
        if waited >= _LONGEST_STOP or server.status not in {of.ACTIVE, of.PAUSED, *of.ASIDE}:
            return Stop.IMPOSSIBLE
        self._locks.lock(server)
        if of.makes_image(server) and waited >= _GRACE:
            self._lost.reset(server)
        elif of.is_busy(server):
            try:
                self._lost.repair(server)
            except StepFailedError:
                return Stop.IMPOSSIBLE
            return Stop.GOING_ON
        of.command(self._nova.servers.unpause if server.status == of.PAUSED else self._nova.servers.stop, server)
        return Stop.GOING_ON
