"""Guests: servers without a lease that use hosts of the pool as long as no lease needs them.

Their flavor says that they make room. They are shelved when a lease needs the room, and unshelved when there is room
again. nova-scheduler then finds them a host by the same rules as for a new server.
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

#: Tag of servers that were shelved for a lease and will be unshelved. If a user removes it, the server stays shelved.
TAG = "lease-preempted"

#: Real seconds between two attempts to unshelve a server, at first and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 900.0


class Guests:
    """Shelves guests to make room, and unshelves them later.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query of Nova's
    :param lost: detects commands that Nova has lost
    """

    def __init__(self, nova: Any, listed: Callable[..., list[Any]], throttle: Throttle, lost: LostCommands) -> None:
        self._nova = nova
        self._listed = listed
        self._throttle = throttle
        self._lost = lost
        self._lock = Lock()
        self._next_try: dict[str, tuple[float, float]] = {}

    def mark(self, servers: Iterable[Any]) -> None:
        """Tag servers that are shelved for a lease, where Nova allows to change the tags in their states."""
        for server in servers:
            if TAG not in of.tags(server) and server.status in of.CAN_SHELVE:
                of.command(lambda each: each.add_tag(TAG), server)

    def make_room(self, service: str, missing: Callable[[], Mapping[str, int]]) -> bool:
        """Shelve guests of a compute service, the youngest first and no more than necessary.

        :param service: name of the compute service
        :param missing: returns resource class -> amount that must become free. It is called after the guests that are
            going were found, because Nova frees what a server had before it shows the server as gone
        :return: False if there are no guests that have any of it
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
        if any(amount > 0 for amount in still.values()):
            there = [each for each in there if of.has_some_of(each, still)]
        for each in sorted(there, key=lambda guest: (str(guest.created), str(guest.id)), reverse=True):
            if not of.has_some_of(each, still):
                continue
            still.subtract(of.claims(each))
            if self._throttle.begin(each.id, of.host(each)):
                LOG.info("server %s makes room for a lease on %s", each.id, service)
                self.mark([each])
                of.command(self._nova.servers.shelve, each)
        return bool(going or there)

    def send_away(self, server_id: str) -> None:
        """Shelve a server on a host that a lease has for itself, if it is a guest."""
        for server in self._listed(uuid=server_id):
            if of.is_guest(server) and not of.is_busy(server):
                LOG.warning("server %s is on a host that a lease has for itself; it is shelved", server_id)
                self.mark([server])
                of.command(self._nova.servers.shelve, server)

    def bring_back(self) -> None:
        """Try to unshelve the guests that made room and are due for a try; called at intervals."""
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
        """Return whether to try to unshelve a server now.

        Nova reports only afterwards that there was no room, so the pauses become longer. There is a pause before the
        first try too. Without it the guest could take back its room before the lease has taken it.
        """
        with self._lock:
            due, pause = self._next_try.setdefault(server_id, (now + _FIRST_PAUSE, _FIRST_PAUSE))
            if now < due:
                return False
            self._next_try[server_id] = (now + pause, min(2 * pause, _LONGEST_PAUSE))
            return True
