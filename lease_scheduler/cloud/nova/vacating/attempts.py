"""Attempts to bring servers back or to move them, counted for one operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from threading import Lock
from typing import Any

from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals

#: Maximum number of attempts to bring a server back or to move it.
MOST = 3


class Attempts:
    """Counter of attempts, for use by several threads.

    :param arrivals: its notes on moved servers are forgotten with their attempts
    """

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        #: Failed servers that were rebooted before they are moved.
        self._revived: set[str] = set()

    def of(self, server: Any) -> int:
        """Return the number of attempts with a server."""
        return self._counts[server.id]

    def may_try_again(self, server: Any) -> bool:
        """Count an attempt. Return False if it is one too many."""
        with self._lock:
            self._counts[server.id] += 1
            return self._counts[server.id] <= MOST

    def may_revive(self, server: Any) -> bool:
        """Note that a server is revived. Return False if it was revived before."""
        with self._lock:
            may = server.id not in self._revived
            self._revived.add(server.id)
            return may

    def forget(self, servers: Collection[Any]) -> None:
        """Forget servers whose operation is over."""
        with self._lock:
            for server in servers:
                self._counts.pop(server.id, None)
                self._revived.discard(server.id)
                self._arrivals.forget(server.id)
