"""The alarm for operators when a lease cannot have a host because servers are on it that do not give way."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from threading import Lock

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.engine.records import Message
from lease_scheduler.model.errors import EngineUnavailableError

LOG = logging.getLogger(__name__)

#: Servers that do not give way are on a host of a lease.
OCCUPIED = "lease.event.occupied"


class OccupiedAlarm:
    """Logs each time that a host cannot be had, and notifies operators when that is news.

    :param transaction: begins a transaction of the site
    :param notify: has a notification sent with it
    """

    def __init__(
        self, transaction: Callable[[], AbstractContextManager[None]], notify: Callable[[Message], None]
    ) -> None:
        self._transaction = transaction
        self._notify = notify
        self._lock = Lock()
        self._told: dict[str, Mapping[str, tuple[str, ...]]] = {}

    def raise_for(self, lease_id: str, error: HostsOccupiedError, now: int) -> None:
        """Tell of the servers that keep a lease from its hosts.

        :param now: the present instant
        """
        LOG.warning("lease %s does not get all of its hosts: %s", lease_id, error)
        with self._lock:
            if self._told.get(lease_id) == error.servers:
                return
            self._told[lease_id] = error.servers
        payload = {
            "lease_id": lease_id,
            "hosts": [{"host": host, "servers": list(servers)} for host, servers in error.servers.items()],
            "instant": now,
        }
        try:
            with self._transaction():
                self._notify(Message(OCCUPIED, payload))
        except EngineUnavailableError:
            LOG.info("the engine is stopping; the next one to lead tells of it")

    def forget(self, lease_id: str) -> None:
        """Note that a lease has got what it was to get, or is over."""
        with self._lock:
            self._told.pop(lease_id, None)
