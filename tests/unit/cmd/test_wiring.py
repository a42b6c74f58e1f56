"""The API keeps a connection for each of its threads."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.cmd import configuration, wiring


def test_the_api_keeps_a_connection_for_each_of_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[dict[str, Any]] = []
    monkeypatch.setattr(wiring, "open_database", lambda url, **options: opened.append(options))
    conf = configuration.load([], {("database", "connection"): "sqlite://", ("api", "threads"): 12})
    wiring.default_transport(conf, "fake://")
    for threads in (None, 7):
        wiring.for_api(conf, threads)
    assert [(each["max_pool_size"], each["max_overflow"]) for each in opened] == [(12, 43), (7, 48)]
