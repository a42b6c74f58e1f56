"""The database of a guest: which leases it has asked for, and which nodes of the queue have them.

Whatever the guest asks of others is written here before. So a guest that was killed anywhere repeats its last calls,
with the same ids, and nothing that it has begun is forgotten. The programs that the queue calls write to the inbox
and are done, whether or not the guest runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, Any

from lease_scheduler.guest.errors import WrongSettingError
from lease_scheduler.guest.nodes import Node, NodeState

#: Seconds that a writer waits for another one.
_PATIENCE = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS leases (
    id TEXT PRIMARY KEY, units INTEGER NOT NULL, term INTEGER NOT NULL, job TEXT, stage TEXT NOT NULL,
    terms TEXT NOT NULL, extension INTEGER
);
CREATE TABLE IF NOT EXISTS nodes (
    name TEXT PRIMARY KEY, state TEXT NOT NULL, since INTEGER NOT NULL, lease_id TEXT, again INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS inbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, verb TEXT NOT NULL, node TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS setups (
    number INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, lease_id TEXT NOT NULL, at INTEGER NOT NULL,
    seconds REAL NOT NULL
);
"""


class Stage(Enum):
    """How far the guest is with a lease."""

    #: It is to be requested; the site may or may not know it
    ASKING = "asking"
    ASKED = "asked"
    #: It is to be ended; the site may or may not have done it
    ENDING = "ending"


class Verb(Enum):
    """What the queue tells of a node."""

    RESUME = "resume"
    SUSPEND = "suspend"
    RESUME_FAILED = "resume-failed"


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """A lease that the guest has asked for and that has not ended.

    :ivar term: seconds for which it was asked
    :ivar job: id of the job it was asked for, or None
    :ivar terms: the body of the request, which is repeated as it was
    :ivar extension: total duration to which it is to be extended; None if no extension is under way
    """

    id: str
    units: int
    term: int
    job: str | None
    stage: Stage
    terms: Mapping[str, Any] = field(default_factory=dict)
    extension: int | None = None


class Records:
    """The database, a SQLite file. It is used by one thread.

    :param path: the file; its folder must exist
    :raises WrongSettingError: it cannot be used
    """

    def __init__(self, path: Path) -> None:
        try:
            self._connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise WrongSettingError(
                "guest.database", f"{path} cannot be used: {error}; name a writable file"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # -- what the queue tells ------------------------------------------------------------------------------------

    def tell(self, verb: Verb, nodes: Iterable[str]) -> None:
        """Write what the queue tells of nodes, for the next round."""
        with self._transaction() as connection:
            connection.executemany("INSERT INTO inbox (verb, node) VALUES (?, ?)", [(verb.value, n) for n in nodes])

    def take_told(self, now: int) -> int:
        """Apply what the queue has told, in its order, and return how many messages there were."""
        with self._transaction() as connection:
            told = connection.execute("SELECT verb, node FROM inbox ORDER BY number").fetchall()
            for verb, name in told:
                node = after(self._node(name), Verb(verb), name, now)
                if node is None:
                    connection.execute("DELETE FROM nodes WHERE name = ?", (name,))
                else:
                    self._put(node)
            connection.execute("DELETE FROM inbox")
        return len(told)

    # -- nodes ---------------------------------------------------------------------------------------------------

    def nodes(self) -> list[Node]:
        """Return all nodes that are wanted or have a lease, by age and name."""
        rows = self._connection.execute("SELECT name, state, since, lease_id, again FROM nodes ORDER BY since, name")
        return [_node(row) for row in rows]

    def put_nodes(self, nodes: Iterable[Node]) -> None:
        """Write nodes."""
        with self._transaction():
            for node in nodes:
                self._put(node)

    def forget_nodes(self, names: Iterable[str]) -> None:
        """Remove nodes."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM nodes WHERE name = ?", [(name,) for name in names])

    def _node(self, name: str) -> Node | None:
        rows = self._connection.execute(
            "SELECT name, state, since, lease_id, again FROM nodes WHERE name = ?", (name,)
        ).fetchall()
        return _node(rows[0]) if rows else None

    def _put(self, node: Node) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO nodes (name, state, since, lease_id, again) VALUES (?, ?, ?, ?, ?)",
            (node.name, node.state.value, node.since, node.lease_id, int(node.is_wanted_again)),
        )

    # -- leases --------------------------------------------------------------------------------------------------

    def leases(self) -> list[LeaseRecord]:
        """Return all leases that have not ended, in the order in which they were asked for."""
        rows = self._connection.execute(
            "SELECT id, units, term, job, stage, terms, extension FROM leases ORDER BY rowid"
        ).fetchall()
        return [
            LeaseRecord(lease, units, term, job, Stage(stage), json.loads(terms), extension)
            for lease, units, term, job, stage, terms, extension in rows
        ]

    def add_leases(self, leases: Iterable[LeaseRecord]) -> None:
        """Write leases that are to be requested."""
        with self._transaction() as connection:
            connection.executemany(
                "INSERT INTO leases (id, units, term, job, stage, terms, extension) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(e.id, e.units, e.term, e.job, e.stage.value, json.dumps(e.terms), e.extension) for e in leases],
            )

    def set_stage(self, ids: Sequence[str], stage: Stage) -> None:
        """Write how far the guest is with leases."""
        with self._transaction() as connection:
            connection.executemany("UPDATE leases SET stage = ? WHERE id = ?", [(stage.value, each) for each in ids])

    def set_extension(self, lease_id: str, seconds: int | None) -> None:
        """Write to which total duration a lease is to be extended; None when that is done or refused."""
        with self._transaction() as connection:
            connection.execute("UPDATE leases SET extension = ? WHERE id = ?", (seconds, lease_id))

    def forget_lease(self, lease_id: str) -> None:
        """Remove a lease that has ended or was refused."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM leases WHERE id = ?", (lease_id,))

    # -- set-up times --------------------------------------------------------------------------------------------

    def add_setup(self, node: str, lease_id: str, at: int, seconds: float) -> None:
        """Write how long a node took from its first join handler until it had joined."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO setups (node, lease_id, at, seconds) VALUES (?, ?, ?, ?)", (node, lease_id, at, seconds)
            )

    def setups(self) -> list[float]:
        """Return all set-up times in seconds, oldest first."""
        return [row[0] for row in self._connection.execute("SELECT seconds FROM setups ORDER BY number")]


def after(node: Node | None, verb: Verb, name: str, now: int) -> Node | None:
    """Return the record of a node after what the queue told, or None if it needs none."""
    if verb is Verb.RESUME:
        if node is None or node.state is NodeState.WANTED:
            return Node(name, NodeState.WANTED, now)
        if node.state is NodeState.LEAVING:
            return Node(name, node.state, node.since, node.lease_id, is_wanted_again=True)
        return node
    if node is None or node.state is NodeState.WANTED:
        return None
    if node.state is NodeState.LEAVING:
        return Node(name, node.state, node.since, node.lease_id)
    return Node(name, NodeState.LEAVING, now, node.lease_id)


def _node(row: tuple[str, str, int, str | None, int]) -> Node:
    return Node(row[0], NodeState(row[1]), row[2], row[3], bool(row[4]))


def only_guest(path: Path) -> IO[str]:
    """Make sure that no other guest uses a database, as long as the returned file is open.

    :raises WrongSettingError: another guest uses it, or the lock cannot be written
    """
    try:
        file = Path(f"{path}.lock").open("w")  # noqa: SIM115
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise WrongSettingError("guest.database", f"{path}.lock cannot be written: {reason}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise WrongSettingError("guest.database", f"another guest uses {path}; end it, or name another file") from None
    return file
