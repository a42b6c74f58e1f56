"""Connections to the database that stay open."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from lease_scheduler.store.sql.database import kept_connections, open_database


@pytest.mark.parametrize(
    ("size", "overflow", "threads", "expected"),
    [
        (5, 50, 0, (5, 50)),
        (5, 50, 16, (16, 39)),
        (20, 50, 16, (20, 50)),
        (5, 5, 16, (10, 0)),
        (5, -1, 16, (16, -1)),
        (0, 50, 16, (0, 50)),
        (None, 50, 16, (None, 50)),
        (5, None, 16, (5, None)),
    ],
)
def test_each_thread_keeps_its_connection_within_the_configured_limit(
    size: int | None, overflow: int | None, threads: int, expected: tuple[int | None, int | None]
) -> None:
    assert kept_connections(size, overflow, threads) == expected


def test_a_connection_to_an_sqlite_file_stays_open(tmp_path: Path) -> None:
    """oslo.db would open one for each transaction, which takes longer than most transactions."""
    database = open_database(f"sqlite:///{tmp_path}/site.sqlite", max_pool_size=2, max_overflow=0, pool_timeout=1)
    opened: list[object] = []
    event.listen(database, "connect", lambda connection, _: opened.append(connection))
    for _ in range(3):
        with database.begin() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
    assert len(opened) == 1
    with database.connect(), database.connect(), pytest.raises(PoolTimeoutError):
        database.connect()
    assert len(opened) == 2
    database.dispose()
