"""Limit of the servers that are put away or brought back at the same time (haizea F74)."""

from __future__ import annotations

from threading import Lock
from time import monotonic

#: Real seconds after which an operation without a sign of life counts as over. Its server may have been deleted.
_FORGOTTEN_AFTER = 20.0


class Throttle:
    """Counter of operations on servers, by host and in total. Without it, Nova would begin all of them at once.

    :param per_host: maximum number at the same time on one host
    :param in_all: maximum number at the same time
    """

    def __init__(self, per_host: int, in_all: int) -> None:
        self._per_host = per_host
        self._in_all = in_all
        self._lock = Lock()
        self._going_on: dict[str, tuple[str | None, float]] = {}

    def begin(self, server_id: str, host: str | None) -> bool:
        """Begin an operation on a server, which counts until ``end``. Return False if it may not begin now.

        :param host: name of the host that does the work, or None if not known yet
        """
        with self._lock:
            if server_id in self._going_on:
                return True
            now = monotonic()
            self._going_on = {key: value for key, value in self._going_on.items() if now - value[1] < _FORGOTTEN_AFTER}
            here = sum(1 for busy, _ in self._going_on.values() if host is not None and busy == host)
            if len(self._going_on) >= self._in_all or here >= self._per_host:
                return False
            self._going_on[server_id] = (host, now)
            return True

    def go_on(self, server_id: str) -> None:
        """Note that the operation on a server is still under way."""
        with self._lock:
            if server_id in self._going_on:
                self._going_on[server_id] = (self._going_on[server_id][0], monotonic())

    def end(self, server_id: str) -> None:
        """Note that the operation on a server is over."""
        with self._lock:
            self._going_on.pop(server_id, None)
