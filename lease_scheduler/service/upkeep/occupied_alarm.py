"""Alarm for operators that a lease does not get a host, because servers on it do not give way."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Lock

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.records.messages import Message

LOG = logging.getLogger(__name__)

#: Event type: servers that do not give way are on a host of a lease.
OCCUPIED = "lease.event.occupied"


class OccupiedAlarm:
    """Alarm that logs and notifies that a lease does not get a host, once for each server that is in the way.

    A lease tries to get its hosts again and again, so the same servers are in its way many times.

    :param transaction: begins a transaction of the site
    :param notify: sends a notification with the transaction
    :param is_live: returns whether a lease is live
    """

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[None]],
        notify: Callable[[Message], None],
        is_live: Callable[[str], bool],
    ) -> None:
        self._transaction = transaction
        self._notify = notify
        self._is_live = is_live
        self._lock = Lock()
        # Lease -> (host, server) pairs that were reported; without a server if none is known.
        self._told: dict[str, set[tuple[str, str]]] = {}

    def raise_for(self, lease_id: str, error: HostsOccupiedError, now: int) -> None:
        """Report the servers that keep a lease from its hosts.

        :param error: names the servers
        :param now: the present instant
        """
        found = {(host, server) for host, servers in error.servers.items() for server in servers or ("",)}
        with self._lock:
            self._told = {each: told for each, told in self._told.items() if self._is_live(each)}
            told = self._told.setdefault(lease_id, set())
            is_news = not found <= told
            told |= found
        level = logging.WARNING if is_news else logging.DEBUG
        LOG.log(level, "lease %s does not get all of its hosts: %s", lease_id, error)
        if not is_news:
            return
        payload = {
            "lease_id": lease_id,
            "hosts": [{"host": host, "servers": list(servers)} for host, servers in error.servers.items()],
            "instant": now,
        }
        try:
            with self._transaction():
                self._notify(Message(OCCUPIED, payload))
        except EngineUnavailableError:
            LOG.info("the engine is stopping; the next one to lead will report this")

    def forget(self, lease_id: str) -> None:
        """Note that a lease has got its hosts. Servers that are in its way later are reported again."""
        with self._lock:
            self._told.pop(lease_id, None)
