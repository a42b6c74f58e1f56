"""Commands that Nova has lost: the server is busy for ever, and nobody does anything with it.

Nova's API writes down that a server is busy before it sends the message that has it done. If the API ends in between,
or the message broker loses what it has, nothing follows, and Nova takes no other command for the server. Whoever
carries a command out writes down that he has begun (the events of Nova's instance actions), so that this can be told
from work that takes long.
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
from lease_scheduler.cloud.nova import server as of

LOG = logging.getLogger(__name__)

#: What takes as long as there is to be copied: disks to and from the image store, memory, disks to other hosts.
_COPYING = frozenset(
    {
        *("shelving_image_pending_upload", "shelving_image_uploading"),
        *("image_snapshot", "image_pending_upload", "image_uploading"),
        *("block_device_mapping", "networking", "spawning"),
        *("suspending", "resuming"),
        *("migrating", "resize_migrating", "resize_finish", "rebuild_block_device_mapping", "rebuild_spawning"),
    }
)

#: Real seconds after which a server that nobody has looked at is forgotten.
_FORGOTTEN_AFTER = 600.0


@dataclass(frozen=True)
class LostOptions:
    """What an operator sets.

    :ivar lost_after: real seconds for which a server must be busy without anybody being at work on it
    :ivar stalled_after: the same with somebody who has begun, and may have died, while nothing is being copied
    :ivar hung_after: the same while something is being copied, which shows no progress
    """

    lost_after: float = 60.0
    stalled_after: float = 300.0
    hung_after: float = 7_200.0


@dataclass
class _Busy:
    """What a server is busy with, and since when it has been seen so; real seconds."""

    what: tuple[str, str]
    since: float
    seen: float
    next_question: float
    is_lost: bool = False


class LostCommands:
    """Recognises them, and has Nova take commands for those servers again.

    :param nova: novaclient's client, of an administrator
    :param clock: gives real seconds
    """

    def __init__(self, nova: Any, options: LostOptions, clock: Callable[[], float] = monotonic) -> None:
        self._nova = nova
        self._options = options
        self._clock = clock
        self._lock = Lock()
        self._busy: dict[str, _Busy] = {}

    def repair(self, server: Any) -> bool:
        """Have a busy server ready for another command if Nova has lost the last one; whether that was done.

        :raises StepFailedError: Nova takes no other command for it, because it is on no host
        """
        if self.is_stranded(server):
            raise StepFailedError(f"server {server.id} is {of.task(server)} on no host: Nova has lost the command")
        if not self.is_lost(server):
            return False
        self.reset(server)
        return True

    def is_stranded(self, server: Any) -> bool:
        """Return whether a busy server is on no host and Nova has lost what was to bring it to one.

        Nova takes no other command for it but its deletion, until an operator has mended Nova's database.
        """
        if of.service(server) is not None:
            return False
        is_lost = self.is_lost(server)
        with self._lock:
            return is_lost or self._busy[server.id].is_lost

    def reset(self, server: Any) -> None:
        """Have Nova take commands for a server again; it counts as running then."""
        LOG.warning("server %s is %s, but Nova has lost the command; it is told again", server.id, of.task(server))
        of.command(self._nova.servers.reset_state, server, "active")

    def is_lost(self, server: Any) -> bool:
        """Whether Nova has lost what a busy server waits for."""
        waited = self._waited(server)
        if waited is None:
            return False
        limit = self._options.hung_after if of.task(server) in _COPYING else self._options.stalled_after
        is_lost = waited >= limit or not self._is_worked_on(server)
        with self._lock:
            self._busy[server.id].is_lost = is_lost
        return is_lost

    def _waited(self, server: Any) -> float | None:
        """For how long a server has been seen without progress; none if it is too early to ask more."""
        now, what = self._clock(), (str(of.task(server)), str(server.updated))
        with self._lock:
            self._busy = {key: busy for key, busy in self._busy.items() if now - busy.seen < _FORGOTTEN_AFTER}
            busy = self._busy.get(server.id)
            if busy is None or busy.what != what:
                lost_at = now + self._options.lost_after
                busy = self._busy[server.id] = _Busy(what, now, now, lost_at)
            busy.seen = now
            if now < busy.next_question:
                return None
            busy.next_question = now + self._options.lost_after
            return now - busy.since

    def _is_worked_on(self, server: Any) -> bool:
        """Whether a service of Nova has begun with the last command, and not ended."""
        actions = self._nova.instance_action
        try:
            latest = next(iter(actions.list(server)), None)
            events = [] if latest is None else actions.get(server, latest.request_id).events
        except NotFound:
            # The server has gone meanwhile.
            return True
        return any(event["finish_time"] is None for event in events)
