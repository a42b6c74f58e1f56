"""The simulated cloud's record of overcommitted holds, complete across instants and processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

_BUSY_SECONDS = 30.0


def watch_holds(path: Path, capacity: Mapping[str, int]) -> None:
    """Have the cloud's database record every hold that exceeds a host's capacity; repeating this changes nothing.

    :param capacity: what every host has, by resource class
    """
    limits = " ".join(f"WHEN '{name}' THEN {amount}" for name, amount in capacity.items())
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as cloud:
        cloud.executescript(
            f"""
            CREATE TABLE IF NOT EXISTS overfull (host TEXT, class TEXT, lease_id TEXT);
            CREATE TRIGGER IF NOT EXISTS notes_overfull AFTER INSERT ON held
            WHEN (SELECT SUM(amount) FROM held WHERE host = NEW.host AND class = NEW.class)
                > CASE NEW.class {limits} ELSE {2**62} END
            BEGIN
                INSERT INTO overfull VALUES (NEW.host, NEW.class, NEW.lease_id);
            END;
            """
        )


def overfull(path: Path) -> list[str]:
    """Return the holds that exceeded the capacity."""
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as cloud:
        return [" ".join(row) for row in cloud.execute("SELECT host, class, lease_id FROM overfull")]


def held(path: Path) -> int:
    """Return the number of holds."""
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as cloud:
        return int(cloud.execute("SELECT COUNT(*) FROM held").fetchone()[0])
