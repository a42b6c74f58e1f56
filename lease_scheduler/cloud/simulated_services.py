"""Compute services of the simulated cloud, as rows of its database."""

from __future__ import annotations

import sqlite3
from threading import Lock

_TABLE = "CREATE TABLE IF NOT EXISTS closed (host TEXT PRIMARY KEY)"


class SimulatedServices:
    """See ``cloud.host_services.HostServices``.

    :param database: database of the cloud
    :param lock: lock that every user of the database must hold
    :ivar silent: hosts whose services do not run; only tests set it
    """

    def __init__(self, database: sqlite3.Connection, lock: Lock) -> None:
        self._database = database
        self._lock = lock
        self._heartbeats = 0
        self.silent: set[str] = set()
        self._database.execute(_TABLE)

    def is_vacant(self, host: str) -> bool:
        """See ``HostServices.is_vacant``."""
        with self._lock:
            query = "SELECT COUNT(*) FROM held WHERE host = ?"
            return int(self._database.execute(query, (host,)).fetchone()[0]) == 0

    def close(self, host: str) -> bool:
        """See ``HostServices.close``."""
        with self._lock:
            self._database.execute("INSERT OR IGNORE INTO closed VALUES (?)", (host,))
        return True

    def open(self, host: str) -> None:
        """See ``HostServices.open``."""
        with self._lock:
            self._database.execute("DELETE FROM closed WHERE host = ?", (host,))

    def is_open(self, host: str) -> bool:
        """See ``HostServices.is_open``."""
        return host not in self.closed()

    def closed(self) -> frozenset[str]:
        """See ``HostServices.closed``."""
        with self._lock:
            return frozenset(row[0] for row in self._database.execute("SELECT host FROM closed").fetchall())

    def heartbeat(self, host: str) -> int | None:
        """See ``HostServices.heartbeat``."""
        with self._lock:
            self._heartbeats += 1
            return None if host in self.silent else self._heartbeats
