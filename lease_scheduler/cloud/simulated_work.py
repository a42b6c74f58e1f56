"""The work of the servers of a simulated cloud, which advances as fast as their shares of the CPU allow."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from math import ceil

#: ``need`` and ``done`` are in seconds of a server that has all the CPU that it needs.
_TABLES = """
CREATE TABLE IF NOT EXISTS work (
    lease_id TEXT PRIMARY KEY, need INTEGER NOT NULL, done INTEGER NOT NULL, since INTEGER
);
CREATE TABLE IF NOT EXISTS shares (lease_id TEXT PRIMARY KEY, yield REAL NOT NULL);
CREATE TABLE IF NOT EXISTS share_revision (revision INTEGER NOT NULL);
"""

#: Work that is under way, with its share of the CPU; its end with that share; and an update of the work done so far.
_GOING_ON = "(SELECT * FROM work WHERE since IS NOT NULL) AS work LEFT JOIN shares USING (lease_id)"
_END = "since + (need - done) / COALESCE(yield, 1)"

_COUNT = "done = done + MAX(0, ? - since) * COALESCE((SELECT yield FROM shares WHERE lease_id = work.lease_id), 1)"


class SimulatedWork:
    """The work of leases, and their shares of the CPU. The caller holds the lock and opens the transactions.

    :param database: gets the tables for them
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.executescript(_TABLES)

    def go_on(self, lease_id: str, need: int, now: int) -> None:
        """Begin or resume the work of a lease.

        :param need: seconds that it takes in all
        """
        query = (
            "INSERT INTO work VALUES (?, ?, 0, ?)"
            " ON CONFLICT (lease_id) DO UPDATE SET since = excluded.since WHERE work.since IS NULL"
        )
        self._database.execute(query, (lease_id, need, now))

    def pause(self, lease_id: str, now: int) -> None:
        """Interrupt the work of a lease."""
        query = f"UPDATE work SET {_COUNT}, since = NULL WHERE lease_id = ? AND since IS NOT NULL"
        self._database.execute(query, (now, lease_id))

    def forget(self, lease_id: str) -> None:
        """Forget the work of a lease."""
        self._database.execute("DELETE FROM work WHERE lease_id = ?", (lease_id,))

    def share(self, revision: int, yields: Mapping[str, float], now: int) -> None:
        """Continue work with these shares of the CPU; see ``capabilities.Shares.share``."""
        latest = self._database.execute("SELECT MAX(revision) FROM share_revision").fetchone()[0]
        if latest is not None and revision < latest:
            return
        self._database.execute(f"UPDATE work SET {_COUNT}, since = ? WHERE since < ?", (now, now, now))
        self._database.execute("DELETE FROM shares")
        self._database.executemany("INSERT INTO shares VALUES (?, ?)", yields.items())
        self._database.execute("DELETE FROM share_revision")
        self._database.execute("INSERT INTO share_revision VALUES (?)", (revision,))

    def shares(self) -> dict[str, float]:
        """Return lease -> part of the CPU that its servers get, for fluid leases."""
        return dict(self._database.execute("SELECT lease_id, yield FROM shares").fetchall())

    def take_done(self, now: int) -> list[str]:
        """Return the leases whose work is done, and forget it."""
        query = f"SELECT lease_id FROM {_GOING_ON} WHERE {_END} <= ?"
        done = [row[0] for row in self._database.execute(query, (now,)).fetchall()]
        for lease_id in done:
            self.forget(lease_id)
        return done

    def next_end(self) -> int | None:
        """Return the first instant at which some work will be done, or None."""
        end = self._database.execute(f"SELECT MIN({_END}) FROM {_GOING_ON}").fetchone()[0]
        return None if end is None else ceil(end)
