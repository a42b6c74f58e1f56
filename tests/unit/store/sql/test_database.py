"""Connections to the database that stay open."""

from __future__ import annotations

import pytest

from lease_scheduler.store.sql.database import kept_connections


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
