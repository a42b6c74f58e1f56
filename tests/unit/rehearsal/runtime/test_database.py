from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from lease_scheduler.rehearsal.runtime import database
from lease_scheduler.rehearsal.runtime.database import ConnectionLostError, DatabaseServer, ServerConnection
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start


@pytest.fixture
def server(scheduler: Scheduler) -> Iterator[DatabaseServer]:
    made = DatabaseServer(scheduler)
    made.raw.execute("CREATE TABLE numbers (value INTEGER)")
    yield made
    made.close()


def _numbers(server: DatabaseServer) -> list[int]:
    return [value for (value,) in server.raw.execute("SELECT value FROM numbers ORDER BY value")]


def test_transactions_run_one_after_the_other(scheduler: Scheduler, start: Start, server: DatabaseServer) -> None:
    def main() -> None:
        connection = server.connect(process)
        for _ in range(5):
            connection.run(database.BEGIN, ())
            (found,) = connection.run("SELECT COUNT(*) FROM numbers", ()).fetchone()
            scheduler.sleep(1)
            connection.run("INSERT INTO numbers VALUES (?)", (found,))
            connection.commit()

    process = start(main)
    for _ in range(3):
        start(main)
    scheduler.run(100)
    assert scheduler.crashes == []
    assert _numbers(server) == list(range(20))


def test_a_transaction_of_a_killed_process_is_rolled_back(
    scheduler: Scheduler, start: Start, server: DatabaseServer
) -> None:
    def main() -> None:
        connection = server.connect(victim)
        connection.run(database.BEGIN, ())
        connection.run("INSERT INTO numbers VALUES (1)", ())
        try:
            scheduler.park()
        finally:
            connection.commit()

    victim = start(main)
    scheduler.run(1)

    def other() -> None:
        connection = server.connect(survivor)
        connection.run("INSERT INTO numbers VALUES (2)", ())

    survivor = start(other)
    scheduler.run(1)
    victim.kill()
    scheduler.run(1)
    assert _numbers(server) == [2]


def test_a_dead_process_reaches_nothing_even_when_its_threads_are_ended(
    scheduler: Scheduler, start: Start, server: DatabaseServer
) -> None:
    connections: list[ServerConnection] = []

    def main() -> None:
        connections.append(server.connect(victim))
        connections[0].run(database.BEGIN, ())
        connections[0].run("INSERT INTO numbers VALUES (1)", ())
        try:
            scheduler.park()
        finally:
            connections[0].commit()

    victim = start(main)
    scheduler.run(1)
    victim.kill()
    scheduler.close()
    assert _numbers(server) == []
    assert connections[0].is_lost


def test_a_transaction_does_not_wait_forever(scheduler: Scheduler, start: Start, server: DatabaseServer) -> None:
    ends: list[float] = []

    def keep() -> None:
        server.connect(keeper).run(database.BEGIN, ())
        scheduler.park()

    def ask() -> None:
        scheduler.sleep(1)
        connection = server.connect(asker)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.run(database.BEGIN, ())
        ends.append(scheduler.now)

    keeper = start(keep)
    asker = start(ask)
    scheduler.run(100)
    assert ends == [51.0]


def test_a_lost_connection_stays_lost(scheduler: Scheduler, start: Start, server: DatabaseServer) -> None:
    def main() -> None:
        connection = server.connect(process)
        connection.run(database.BEGIN, ())
        connection.run("INSERT INTO numbers VALUES (1)", ())
        connection.lose()
        assert not connection.is_in_transaction()
        with pytest.raises(ConnectionLostError):
            connection.run("SELECT 1", ())

    process = start(main)
    scheduler.run(1)
    assert scheduler.crashes == []
    assert _numbers(server) == []


def test_an_image_has_the_content(scheduler: Scheduler, server: DatabaseServer) -> None:
    server.raw.execute("INSERT INTO numbers VALUES (7)")
    copy = DatabaseServer(scheduler, server.image())
    assert _numbers(copy) == [7]
    copy.close()
