"""Database server of a world: an SQLite database in memory, whose transactions run one after the other.

Each process has connections of its own. A transaction takes the database as a whole; others wait for it. So histories
are serialisable, which is more than MariaDB and PostgreSQL promise.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from enum import Enum
from typing import Any

from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import GreenThread, Scheduler

#: True seconds for which a transaction waits for another one, as with MariaDB.
_LOCK_WAIT = 50.0

#: Statements around a transaction, for faults and for the trace.
BEGIN, COMMIT = "BEGIN", "COMMIT"


class ConnectionLostError(sqlite3.OperationalError):
    """The connection to the database is lost. Its transaction is rolled back."""

    def __init__(self) -> None:
        super().__init__("lost connection to the database server")


def disk_full() -> sqlite3.OperationalError:
    """Return the error of a statement for which there is no room on the disk."""
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


def read_only() -> sqlite3.OperationalError:
    """Return the error of a statement that writes while the database can only be read."""
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorcode = sqlite3.SQLITE_READONLY
    return error


def lock_timeout() -> sqlite3.OperationalError:
    """Return the error of a transaction that has waited too long for another one."""
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error


class Moment(Enum):
    """When a fault strikes: before or after the effect of a statement."""

    BEFORE = "before"
    AFTER = "after"


class DatabaseFaults:
    """What goes wrong with the database. This class lets everything succeed; others override.

    Both methods may raise one of the errors above. ``strike`` may also let the calling thread sleep, for a database
    that is slow, or kill its process.
    """

    def connect(self, process: Process) -> None:
        """Strike a new connection."""

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """Strike a statement, or ``COMMIT``."""


class DatabaseServer:
    """The server, with one database.

    :param image: content, from ``image``; None for an empty database
    :ivar faults: decides what goes wrong; may be replaced at any time
    """

    #: Its address among the services of a world.
    ADDRESS = "database"

    def __init__(self, scheduler: Scheduler, image: bytes | None = None) -> None:
        self.faults = DatabaseFaults()
        self.scheduler = scheduler
        self.raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, cached_statements=1_000)
        if image is not None:
            self.raw.deserialize(image)
        self.raw.execute("PRAGMA foreign_keys = ON")
        self.raw.create_function("regexp", 2, _matches, deterministic=True)
        self.raw.create_function("floor", 1, math.floor, deterministic=True)
        self._holder: ServerConnection | None = None
        self._waiting: list[GreenThread] = []
        scheduler.services[self.ADDRESS] = self

    def image(self) -> bytes:
        """Return the content of the database."""
        return self.raw.serialize()

    def close(self) -> None:
        """Drop the database."""
        self.raw.close()

    def connect(self, process: Process) -> ServerConnection:
        """Return a connection of a process.

        :raises ConnectionLostError: the database is away
        """
        self.scheduler.pause()
        self.faults.connect(process)
        if not process.is_alive:
            raise ConnectionLostError
        return ServerConnection(self, process)

    def holds(self, connection: ServerConnection) -> bool:
        """Return whether a connection has a transaction."""
        return self._holder is connection

    @property
    def is_idle(self) -> bool:
        """Whether no transaction runs, so that ``raw`` shows what is committed."""
        return self._holder is None

    def begin(self, connection: ServerConnection) -> None:
        """Begin a transaction when no other one runs.

        :raises sqlite3.OperationalError: another one took too long
        """
        self._wait_for_others(connection)
        self.raw.execute(BEGIN)
        self._holder = connection

    def _wait_for_others(self, connection: ServerConnection) -> None:
        end = self.scheduler.now + _LOCK_WAIT
        while self._holder is not None and self._holder is not connection:
            thread = self.scheduler.current
            if thread is None or self.scheduler.now >= end:
                raise lock_timeout()
            self._waiting.append(thread)
            self.scheduler.park(end - self.scheduler.now)
            if thread in self._waiting:
                self._waiting.remove(thread)

    def end(self, connection: ServerConnection, statement: str) -> None:
        """End the transaction of a connection, if it has one.

        :param statement: COMMIT or ROLLBACK
        """
        if self._holder is not connection:
            return
        self.raw.execute(statement)
        self._holder = None
        # All of them, since the one that would be chosen may be killed before it goes on.
        for thread in self._waiting:
            self.scheduler.wake(thread)
        self._waiting.clear()

    def execute(self, connection: ServerConnection, statement: str, parameters: Any) -> sqlite3.Cursor:
        """Execute a statement, alone if the connection has no transaction."""
        self._wait_for_others(connection)
        return self.raw.execute(statement, parameters)

    def execute_many(self, connection: ServerConnection, statement: str, rows: Sequence[Any]) -> sqlite3.Cursor:
        """Execute a statement once for each row of parameters."""
        self._wait_for_others(connection)
        return self.raw.executemany(statement, rows)


def _matches(expression: str, text: str | None) -> bool | None:
    return None if text is None else re.search(expression, str(text)) is not None


class ServerConnection:
    """A connection of a process, as the server sees it. It ends with the process."""

    def __init__(self, server: DatabaseServer, process: Process) -> None:
        self._server, self._process = server, process
        self.is_lost = False
        process.on_death.append(self.lose)

    def lose(self) -> None:
        """End the connection. Its transaction is rolled back."""
        if not self.is_lost:
            self.is_lost = True
            self._server.end(self, "ROLLBACK")
            if self._process.is_alive:
                self._process.on_death.remove(self.lose)

    def is_in_transaction(self) -> bool:
        """Return whether the connection has a transaction."""
        return self._server.holds(self)

    def run(self, statement: str, parameters: Any, *, many: bool = False) -> sqlite3.Cursor:
        """Execute a statement.

        :param parameters: those of the statement, or rows of them
        :param many: whether to execute it once for each row
        :raises sqlite3.Error: it failed, or a fault has struck it
        """
        self._come(statement, repr(parameters))
        if statement == BEGIN:
            self._server.begin(self)
            return self._server.raw.cursor()
        execute = self._server.execute_many if many else self._server.execute
        cursor = execute(self, statement, parameters)
        self._leave(statement)
        return cursor

    def commit(self) -> None:
        """Commit the transaction, if there is one.

        :raises sqlite3.Error: a fault has struck it, before or after its effect
        """
        if self.is_in_transaction():
            self._come(COMMIT, "")
            self._server.end(self, COMMIT)
            self._leave(COMMIT)

    def rollback(self) -> None:
        """Roll the transaction back, if there is one."""
        if self.is_in_transaction():
            self._server.end(self, "ROLLBACK")

    def _come(self, statement: str, parameters: str) -> None:
        """Take the way to the server, which others may use meanwhile."""
        scheduler = self._server.scheduler
        scheduler.pause()
        if not self.is_lost:
            scheduler.trace.note(f"{scheduler.now:.6f} {self._process.label} {statement} {parameters}")
            self._strike(statement, Moment.BEFORE)
        if self.is_lost:
            raise ConnectionLostError

    def _leave(self, statement: str) -> None:
        """Take the way back."""
        self._strike(statement, Moment.AFTER)
        if self.is_lost:
            raise ConnectionLostError

    def _strike(self, statement: str, moment: Moment) -> None:
        try:
            self._server.faults.strike(self._process, statement, moment)
        except ConnectionLostError:
            self.lose()
            raise
