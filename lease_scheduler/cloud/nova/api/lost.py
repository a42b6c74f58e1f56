"""Commands that Nova has lost, which leave a server busy forever.

Nova's API records that a server is busy before it sends the message for the work. If the API dies in between, or the
message broker loses the message, nothing happens, and Nova takes no other command for the server. A service of Nova
that carries out a command records that it has begun (in the events of instance actions). This distinguishes a lost
command from work that takes long.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import server as of

LOG = logging.getLogger(__name__)

#: Tasks whose time grows with the data: copies of disks to and from the image store, of memory, and to other hosts.
_COPYING = frozenset(
    {
        *("shelving_image_pending_upload", "shelving_image_uploading"),
        *("image_snapshot", "image_pending_upload", "image_uploading"),
        *("block_device_mapping", "networking", "spawning"),
        *("suspending", "resuming"),
        *("migrating", "resize_migrating", "resize_finish", "rebuild_block_device_mapping", "rebuild_spawning"),
    }
)

#: Real seconds after the last check of a server at which it is forgotten.
_FORGOTTEN_AFTER = 600.0

#: Real seconds by which the clock of Nova may differ from ours. A server is seen busy for at least this time before its
#: command counts as lost.
_CLOCK_DIFFERENCE = 10.0


@dataclass(frozen=True)
class LostOptions:
    """Options that say when a command counts as lost.

    :ivar lost_after: real seconds for which a server is busy although no service has begun the work
    :ivar stalled_after: real seconds for which a server is busy with work that copies no data, even if a service has
        begun it, as that may have died
    :ivar hung_after: the same for work that copies data, whose progress cannot be seen
    """

    lost_after: float = 60.0
    stalled_after: float = 300.0
    hung_after: float = 7_200.0


@dataclass
class _Busy:
    """What a server is busy with (task and time of its last update), and since when, in real seconds."""

    what: tuple[str, str]
    since: float
    seen: float
    next_question: float
    is_lost: bool = False


class LostCommands:
    """Detector of lost commands, which also makes Nova take commands for their servers again.

    :param nova: novaclient's client with administrator rights
    :param clock: returns real seconds
    """

    def __init__(self, nova: Any, options: LostOptions, clock: Callable[[], float] = monotonic) -> None:
        self._nova = nova
        self._options = options
        self._clock = clock
        self._lock = Lock()
        self._busy: dict[str, _Busy] = {}

    @property
    def lost_after(self) -> float:
        """See ``LostOptions.lost_after``."""
        return self._options.lost_after

    def repair(self, server: Any) -> bool:
        """Reset a busy server if Nova has lost its last command. Return whether that was done.

        :raises StepFailedError: the server is on no host, so Nova takes no other command for it
        """
        if self.is_stranded(server):
            raise StepFailedError(f"server {server.id} is {of.task(server)} on no host: Nova has lost the command")
        if not self.is_lost(server):
            return False
        self.reset(server)
        return True

    def is_stranded(self, server: Any) -> bool:
        """Return whether a busy server is on no host, and Nova has lost the command that should bring it to one.

        Until an operator has repaired Nova's database, Nova can only delete it.
        """
        if of.service(server) is not None:
            return False
        is_lost = self.is_lost(server)
        with self._lock:
            return is_lost or self._busy[server.id].is_lost

    def reset(self, server: Any) -> None:
        """Make Nova take commands for a server again. The server then counts as running."""
        LOG.warning("server %s is %s, but Nova has lost the command; its state is reset", server.id, of.task(server))
        of.command(self._nova.servers.reset_state, server, "active")

    def is_lost(self, server: Any) -> bool:
        """Return whether Nova has lost the command of a busy server."""
        waited = self._waited(server)
        if waited is None:
            return False
        limit = self._options.hung_after if of.task(server) in _COPYING else self._options.stalled_after
        is_lost = waited >= limit or not self._is_worked_on(server)
        with self._lock:
            self._busy[server.id].is_lost = is_lost
        return is_lost

    def _waited(self, server: Any) -> float | None:
        """Return the seconds for which a server has made no progress, or None if the next check is not due."""
        now, what = self._clock(), (str(of.task(server)), str(server.updated))
        with self._lock:
            self._busy = {key: busy for key, busy in self._busy.items() if now - busy.seen < _FORGOTTEN_AFTER}
            busy = self._busy.get(server.id)
            if busy is None or busy.what != what:
                # Nova says since when, so that an engine that has just started does not begin to count.
                since, lost_after = now - max(0.0, of.idle_time(server)), self._options.lost_after
                lost_at = max(since + lost_after, now + min(_CLOCK_DIFFERENCE, lost_after))
                busy = self._busy[server.id] = _Busy(what, since, now, lost_at)
            busy.seen = now
            if now < busy.next_question:
                return None
            busy.next_question = now + self._options.lost_after
            return now - busy.since

    def _is_worked_on(self, server: Any) -> bool:
        """Return whether a service of Nova has begun the last command and not ended it."""
        actions = self._nova.instance_action
        try:
            latest = next(iter(actions.list(server)), None)
            events = [] if latest is None else actions.get(server, latest.request_id).events
        except NotFound:
            # The server is gone, or no service has begun to boot it.
            return bool(server.status != of.BUILD)
        return any(event["finish_time"] is None for event in events)
