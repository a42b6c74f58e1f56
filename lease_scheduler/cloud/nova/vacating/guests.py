"""Guests: servers without a lease that use hosts of the pool as long as no lease needs them.

Their flavor says that they give way. They are shelved when a lease needs their capacity, and unshelved later.
nova-scheduler then finds a host for them by the same rules as for a new server.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from time import monotonic
from typing import Any

from lease_scheduler.cloud.driver import HostsOccupiedError, StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.model.kinds import PreemptionMode

LOG = logging.getLogger(__name__)

#: Tag of servers that were shelved for a lease and will be unshelved. If a user removes it, the server stays shelved.
TAG = "lease-preempted"

#: Seconds for which a lease waits for images that projects make of their guests.
_IMAGE_TIME = 10

#: Real seconds after which a request to a server to give way is forgotten. It is longer than the time between two
#: attempts at a start, one minute.
_FORGOTTEN_AFTER = 120.0

#: Real seconds between two attempts to unshelve a server, at first and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 900.0


class Guests:
    """The guests of a cloud, which are shelved for leases and unshelved later.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query to Nova
    :param is_taken: returns whether a lease has a compute service for itself
    :param patience: real seconds after which guests that have not left count as staying
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        throttle: Throttle,
        away: PuttingAway,
        given_up: GivenUpRoom,
        locks: Locks,
        is_taken: Callable[[str], bool],
        patience: int,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._throttle = throttle
        self._away = away
        self._given_up = given_up
        self._locks = locks
        self._is_taken = is_taken
        self._patience = patience
        self._lock = Lock()
        self._next_try: dict[str, tuple[float, float]] = {}
        #: Server -> real seconds at which it was first and last asked to give way on a shared host.
        self._asked: dict[str, tuple[float, float]] = {}

    def mark(self, servers: Iterable[Any]) -> None:
        """Tag servers that are shelved for a lease, if Nova allows this in their states."""
        for server in servers:
            if server.status in of.CAN_SHELVE:
                of.add_tag(server, TAG)

    def make_room(self, host: str, service: str, missing: Callable[[], Mapping[str, int]]) -> bool:
        """Shelve guests of a compute host, youngest first and no more than necessary.

        :param host: its name
        :param service: name of its compute service
        :param missing: returns resource class -> amount that must become free. It is called after leaving guests were
            found, because Nova frees what a server had before it shows the server as gone
        :return: False if no guests have any of the missing amounts
        :raises HostsOccupiedError: guests that have some of them do not leave in time
        """
        here = [each for each in self._listed(host=service) if of.is_guest(each)]
        here = [each for each in here if not self._given_up.is_given_up(each)]
        chosen = [each for each in here if of.is_going(each)]
        still = Counter({name: amount for name, amount in missing().items() if amount > 0})
        for each in chosen:
            still.subtract(of.claims(each))
        there = [each for each in here if each not in chosen]
        if any(amount > 0 for amount in still.values()):
            there = [each for each in there if of.has_some_of(each, still)]
        has_guests = bool(chosen or there)
        for each in sorted(there, key=lambda guest: (str(guest.created), str(guest.id)), reverse=True):
            if of.has_some_of(each, still):
                LOG.info("server %s makes room for a lease on %s", each.id, service)
                still.subtract(of.claims(each))
                chosen.append(each)
        self.mark(chosen)
        asked = self._asked_for([each.id for each in chosen])
        for each in chosen:
            self._send_away(each, asked[each.id])
        stay = [each.id for each in chosen if asked[each.id] > self._patience]
        if stay:
            # Users may keep a guest busy in ways that this code does not know.
            raise HostsOccupiedError({host: stay})
        return has_guests

    def _asked_for(self, servers: Iterable[str]) -> dict[str, float]:
        """Return the real seconds since each of these servers was first asked to give way."""
        now = monotonic()
        with self._lock:
            kept = {key: value for key, value in self._asked.items() if now - value[1] < _FORGOTTEN_AFTER}
            self._asked = kept | {each: (kept.get(each, (now, now))[0], now) for each in servers}
            return {each: now - since for each, (since, _) in self._asked.items()}

    def _send_away(self, server: Any, asked: float) -> None:
        try:
            self._away.put_away([server], PreemptionMode.SHELVE, math.ceil(asked) - _IMAGE_TIME)
        except StepFailedError as error:
            LOG.warning("a lease needs the room of server %s: %s", server.id, error)

    def bring_back(self) -> None:
        """Try to bring back guests that gave way, if they are due for an attempt. Call this at intervals."""
        now = monotonic()
        found = {each.id: each for each in self._listed(tags=TAG)}
        stopped = {each.id: each for each in self._listed(locked="true") if self._given_up.is_given_up(each)}
        stopped = {server_id: each for server_id, each in stopped.items() if of.is_guest(each)}
        with self._lock:
            self._next_try = {key: value for key, value in self._next_try.items() if key in found or key in stopped}
        for server in found.values():
            if of.is_busy(server):
                self._throttle.go_on(server.id)
                continue
            self._throttle.end(server.id)
            if server.status == of.ACTIVE:
                of.delete_tag(server, TAG)
            elif server.status == of.OFFLOADED:
                self._locks.unlock(server)
                with self._lock:
                    self._asked.pop(server.id, None)
                if self._is_due(server.id, now) and self._throttle.begin(server.id, None):
                    of.command(self._nova.servers.unshelve, server)
        for server in stopped.values():
            service = of.service(server)
            if of.is_busy(server) or service is None or self._is_taken(service) or not self._is_due(server.id, now):
                continue
            if self._given_up.take_back(server):
                of.command(self._nova.servers.start, server)
                self._locks.unlock(server)

    def _is_due(self, server_id: str, now: float) -> bool:
        """Return whether to try to unshelve a server now.

        Nova reports only afterwards that no host had enough capacity, so the pauses become longer. There is a pause
        before the first attempt, too, as the guest could otherwise take its capacity back before the lease has it.
        """
        with self._lock:
            due, pause = self._next_try.setdefault(server_id, (now + _FIRST_PAUSE, _FIRST_PAUSE))
            if now < due:
                return False
            self._next_try[server_id] = (now + pause, min(2 * pause, _LONGEST_PAUSE))
            return True
