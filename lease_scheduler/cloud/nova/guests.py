"""Servers of nobody's lease that use hosts of the pool for as long as no lease needs them.

Their flavor says that they give way. They are shelved when a lease needs the room, and unshelved when there is room
again; Nova's scheduler then finds them a host by the same rules as at first.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from time import monotonic
from typing import Any

from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.lost import LostCommands
from lease_scheduler.cloud.nova.throttle import Throttle

LOG = logging.getLogger(__name__)

#: Tag of servers that were shelved for a lease and are to come back; an owner who removes it keeps his server shelved.
TAG = "lease-preempted"

#: Real seconds between two attempts to bring a server back, at first and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 900.0


class Guests:
    """Makes room where guests are, and lets them come back.

    :param nova: novaclient's client, of an administrator
    :param listed: gives all servers that satisfy a query of Nova's
    :param lost: tells Nova again what it has lost
    """

    def __init__(self, nova: Any, listed: Callable[..., list[Any]], throttle: Throttle, lost: LostCommands) -> None:
        self._nova = nova
        self._listed = listed
        self._throttle = throttle
        self._lost = lost
        self._lock = Lock()
        self._next_try: dict[str, tuple[float, float]] = {}

    def mark(self, servers: Iterable[Any]) -> None:
        """Remember that servers are shelved for a lease, as far as Nova changes the tags of servers in their states."""
        for server in servers:
            if TAG not in of.tags(server) and server.status in of.CAN_SHELVE:
                of.command(lambda each: each.add_tag(TAG), server)

    def make_room(self, service: str, missing: Callable[[], Mapping[str, int]]) -> bool:
        """Have guests on a compute service go, the youngest first and no more than have to; false if there are none.

        :param service: name of the compute service
        :param missing: gives resource class -> amount that is to come free. Asked when it is known who is going: Nova
            gives back what a server had before it says that the server is gone
        """
        here = [each for each in self._listed(host=service) if of.is_guest(each)]
        going = [each for each in here if of.is_busy(each)]
        still = Counter({name: amount for name, amount in missing().items() if amount > 0})
        for each in going:
            self._lost.repair(each)
            still.subtract(of.claims(each))
        there = []
        for each in here:
            if each in going:
                continue
            if each.status in of.CAN_SHELVE:
                there.append(each)
            elif of.settle(self._nova, each):
                going.append(each)
        for each in sorted(there, key=lambda guest: (str(guest.created), str(guest.id)), reverse=True):
            if not any(amount > 0 for amount in still.values()):
                break
            still.subtract(of.claims(each))
            if self._throttle.begin(each.id, of.host(each)):
                LOG.info("server %s makes room for a lease on %s", each.id, service)
                self.mark([each])
                of.command(self._nova.servers.shelve, each)
        return bool(going or there)

    def send_away(self, server_id: str) -> None:
        """Have a server shelved if it gives way: it has got onto a host that a lease has for itself."""
        for server in self._listed(uuid=server_id):
            if of.is_guest(server) and not of.is_busy(server):
                LOG.warning("server %s has got onto a host that a lease has for itself, and is shelved", server_id)
                self.mark([server])
                of.command(self._nova.servers.shelve, server)

    def bring_back(self) -> None:
        """Try to unshelve those that made room, each now and then; called at intervals."""
        now = monotonic()
        found = {each.id: each for each in self._listed(tags=TAG)}
        with self._lock:
            self._next_try = {key: value for key, value in self._next_try.items() if key in found}
        for server in found.values():
            if of.is_busy(server):
                self._throttle.go_on(server.id)
                continue
            self._throttle.end(server.id)
            if server.status == of.ACTIVE:
                server.delete_tag(TAG)
            elif (
                server.status == of.OFFLOADED and self._is_due(server.id, now) and self._throttle.begin(server.id, None)
            ):
                of.command(self._nova.servers.unshelve, server)

    def _is_due(self, server_id: str, now: float) -> bool:
        """Whether to try now; Nova says only afterwards that there was no room, so the pauses become longer.

        Not at once, or it might take what it has just made free before the lease has.
        """
        with self._lock:
            due, pause = self._next_try.setdefault(server_id, (now + _FIRST_PAUSE, _FIRST_PAUSE))
            if now < due:
                return False
            self._next_try[server_id] = (now + pause, min(2 * pause, _LONGEST_PAUSE))
            return True
