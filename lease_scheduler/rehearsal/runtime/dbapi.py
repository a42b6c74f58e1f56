"""Python's database interface (PEP 249) to the database server of a world, and the dialect of SQLAlchemy for it.

The URL is ``rehearsal+memory:///NAME``; there is one database, whatever its name. The name of the dialect is
``sqlite``, so that statements and errors are understood as those of SQLite. The scheme of the URL is not, so that
oslo.db treats the database as a server.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from sqlite3 import (
    Binary,
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
    sqlite_version_info,
)
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.database import BEGIN, ConnectionLostError, DatabaseServer, ServerConnection

__all__ = [
    "Binary",
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Warning",
    "connect",
    "sqlite_version_info",
]

apilevel, threadsafety, paramstyle = "2.0", 1, "qmark"


class Cursor:
    """A cursor. It has read its whole result, as those of network drivers have."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1
        self._rows: Iterator[Any] = iter(())

    def execute(self, statement: str, parameters: Any = ()) -> Cursor:
        """See PEP 249."""
        return self._take(self.connection.server.run(statement, parameters))

    def executemany(self, statement: str, rows: Sequence[Any]) -> Cursor:
        """See PEP 249."""
        return self._take(self.connection.server.run(statement, rows, many=True))

    def _take(self, found: sqlite3.Cursor) -> Cursor:
        self.description, self.rowcount, self.lastrowid = found.description, found.rowcount, found.lastrowid
        self._rows = iter(found.fetchall())
        found.close()
        return self

    def fetchone(self) -> Any:
        """See PEP 249."""
        return next(self._rows, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """See PEP 249."""
        wanted = self.arraysize if size is None else size
        return list(islice(self._rows, wanted))

    def fetchall(self) -> list[Any]:
        """See PEP 249."""
        return list(self._rows)

    def close(self) -> None:
        """See PEP 249."""
        self._rows = iter(())


class Connection:
    """A connection.

    :ivar server: the connection as the server sees it
    :ivar isolation_level: what SQLAlchemy reads; transactions begin with ``begin`` whatever it is
    """

    def __init__(self, server: ServerConnection) -> None:
        self.server = server
        self.isolation_level: str | None = None

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun."""
        return self.server.is_in_transaction()

    def begin(self) -> None:
        """Begin a transaction."""
        self.server.run(BEGIN, ())

    def cursor(self) -> Cursor:
        """See PEP 249."""
        return Cursor(self)

    def execute(self, statement: str, parameters: Any = ()) -> Cursor:
        """Execute a statement with a new cursor."""
        return self.cursor().execute(statement, parameters)

    def commit(self) -> None:
        """See PEP 249."""
        self.server.commit()

    def rollback(self) -> None:
        """See PEP 249."""
        self.server.rollback()

    def close(self) -> None:
        """See PEP 249."""
        self.server.lose()

    def create_function(self, *_: Any, **__: Any) -> None:
        """Do nothing: the server has the functions that libraries add."""


def connect(*_: Any, **__: Any) -> Connection:
    """Return a connection of the calling process.

    :raises NoWorldError: the caller is no process of a running world
    :raises ConnectionLostError: the database is away
    """
    thread = current.thread()
    if thread is None:
        raise current.NoWorldError("the database of a rehearsal exists for processes of a world only")
    server: Any = current.scheduler().services[DatabaseServer.ADDRESS]
    assert isinstance(server, DatabaseServer)
    return Connection(server.connect(thread.process))


class RehearsalDialect(SQLiteDialect_pysqlite):
    """Dialect for the database server of a world."""

    driver = "rehearsal"
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> Any:
        """Return this module."""
        return sys.modules[__name__]

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Have transactions begin on the server when SQLAlchemy begins them."""
        event.listen(engine, "begin", lambda connection: connection.connection.dbapi_connection.begin())

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Return whether a pooled connection still exists."""
        return not dbapi_connection.server.is_lost

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        """Return whether an error means that the connection is lost."""
        return isinstance(e, ConnectionLostError)
