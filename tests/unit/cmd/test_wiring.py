"""Connections to the database that stay open."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.cmd import configuration, wiring


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
    assert wiring.kept_connections(size, overflow, threads) == expected


def test_the_api_keeps_a_connection_for_each_of_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[dict[str, Any]] = []
    monkeypatch.setattr(wiring, "open_database", lambda url, **options: opened.append(options))
    conf = configuration.load([], {("database", "connection"): "sqlite://", ("api", "threads"): 12})
    wiring.default_transport(conf, "fake://")
    for threads in (None, 7):
        wiring.for_api(conf, threads)
    assert [(each["max_pool_size"], each["max_overflow"]) for each in opened] == [(12, 43), (7, 48)]
