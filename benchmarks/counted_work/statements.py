"""Statements that SQLAlchemy executes on SQLite, and the rows that they read and write."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread
from typing import Any

from sqlalchemy import Engine, event

#: An expression in parentheses that has none itself: the table of a statement is not that of a query within it.
_WITHIN = re.compile(r"\([^()]*\)")
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+\"?(\w+)", re.IGNORECASE)

#: Threads whose statements depend on how long the scenario takes, or on how many notifications they happen to find.
_LEFT_OUT = frozenset({"heartbeat", "leadership", "outbox"})


@contextmanager
def counted_statements(into: Counter[str]) -> Iterator[None]:
    """Count the statements that databases opened in this block execute, and their rows.

    :param into: counter to which statements (in total and by table), rows read, and rows written (by table) are added
    """

    def connected(connection: sqlite3.Connection, record: object) -> None:
        def row_read(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
            if current_thread().name not in _LEFT_OUT:
                into["rows read"] += 1
            return row

        connection.row_factory = row_read

    def executed(
        connection: object, cursor: Any, statement: str, parameters: Any, context: object, executemany: bool
    ) -> None:
        if current_thread().name in _LEFT_OUT:
            return
        verb = statement.split(maxsplit=1)[0].lower()
        found = 1
        while found:
            statement, found = _WITHIN.subn("", statement)
        table = _TABLE.search(statement)
        if table is None:
            return
        into["statements"] += 1
        into[f"statements, {verb} {table[1].lower()}"] += 1
        if verb != "select" and cursor.rowcount > 0:
            into[f"rows written, {table[1].lower()}"] += cursor.rowcount

    event.listen(Engine, "connect", connected)
    event.listen(Engine, "after_cursor_execute", executed)
    try:
        yield
    finally:
        event.remove(Engine, "connect", connected)
        event.remove(Engine, "after_cursor_execute", executed)
