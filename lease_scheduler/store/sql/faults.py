"""Database errors that an operator has to act on."""

from __future__ import annotations

import errno
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from oslo_db.exception import DBConnectionError, DBError
from sqlalchemy.exc import OperationalError

from lease_scheduler.model.errors import StoreFullError, StoreUnavailableError

#: Message for errors of a database that cannot write because its disk is full.
FULL = "the disk of the database is full; nothing can be written until there is room again"

#: Error codes of SQLite: no space to enlarge the database file, or the shared-memory file of its connections.
_FULL_CODES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
#: Error numbers of MariaDB and MySQL: ER_DISK_FULL, ER_RECORD_FILE_FULL.
_FULL_NUMBERS = frozenset({1021, 1114})
#: The operating system's error number, in the text of their other errors (ER_ERROR_ON_WRITE, ER_GET_ERRNO).
_FULL_TEXT = re.compile(rf"(?:Errcode: |[Ee]rror |errno: ){errno.ENOSPC}\b|No space left on device")
#: PostgreSQL's SQLSTATE disk_full.
_FULL_STATE = "53100"


def is_full(error: BaseException) -> bool:
    """Return whether an error, or one of its causes, says that a disk is full."""
    return any(_says_full(each) for each in _chain(error))


@contextmanager
def in_plain_words() -> Iterator[None]:
    """Turn errors of the database in the block into those that callers know.

    :raises StoreFullError: the disk of the database is full
    :raises StoreUnavailableError: the database does not answer
    """
    try:
        yield
    except (DBError, OperationalError) as error:
        if is_full(error):
            raise StoreFullError(FULL) from error
        if not isinstance(error, DBConnectionError | OperationalError):
            raise
        raise StoreUnavailableError("the database does not answer") from error


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and all its causes."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        inner = [getattr(each, "orig", None), getattr(each, "inner_exception", None)]
        waiting += [each.__cause__, each.__context__, *(one for one in inner if isinstance(one, BaseException))]


def _says_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return True
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) in _FULL_CODES
    if getattr(error, "pgcode", None) == _FULL_STATE:
        return True
    if type(error).__module__.startswith("pymysql") and error.args:
        text = str(error.args[-1])
        return error.args[0] in _FULL_NUMBERS or _FULL_TEXT.search(text) is not None
    return False
