"""Which errors of databases say that a disk is full."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pymysql
import pytest
from psycopg2 import errors
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError

from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.faults import is_full


def _wrapped(inner: Exception) -> Exception:
    return OperationalError("INSERT", {}, inner)


def test_a_full_file_of_sqlite_is_recognised(tmp_path: Path) -> None:
    """What SQLite really raises, through SQLAlchemy and oslo.db."""
    database = open_database(f"sqlite:///{tmp_path}/full.sqlite")
    with database.connect() as connection:
        connection.execute(text("CREATE TABLE t (x BLOB)"))
        connection.execute(text("PRAGMA max_page_count = 10"))
        with pytest.raises(Exception, match="full") as caught:
            connection.execute(text("INSERT INTO t VALUES (zeroblob(1000000))"))
    assert is_full(caught.value)
    database.dispose()


@pytest.mark.parametrize(
    "error",
    [
        pymysql.err.OperationalError(1021, "Disk full (/tmp); waiting for someone to free some space..."),
        pymysql.err.OperationalError(1114, "The table 'leases' is full"),
        pymysql.err.InternalError(3, 'Error writing file (Errcode: 28 "No space left on device")'),
        pymysql.err.OperationalError(1030, 'Got error 28 "No space left on device" from storage engine InnoDB'),
        errors.DiskFull("could not extend file"),
        OSError(errno.ENOSPC, "No space left on device"),
    ],
)
def test_errors_of_full_storage_are_recognised(error: Exception) -> None:
    # psycopg2 itself sets the state of errors that come from a server.
    if not isinstance(error, errors.DiskFull):
        assert is_full(_wrapped(error))
        outer = RuntimeError("x")
        outer.__cause__ = DBAPIError("x", {}, error)
        assert is_full(outer)


@pytest.mark.parametrize(
    "error",
    [
        pymysql.err.OperationalError(2003, "Can't connect to MySQL server"),
        pymysql.err.OperationalError(1205, "Lock wait timeout exceeded; try 28 times"),
        sqlite3.OperationalError("database is locked"),
        OSError(errno.EACCES, "Permission denied"),
        ValueError("disk full"),
    ],
)
def test_other_errors_are_not_errors_of_full_storage(error: Exception) -> None:
    assert not is_full(_wrapped(error))
