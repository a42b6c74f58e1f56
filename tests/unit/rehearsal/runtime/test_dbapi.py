from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from oslo_db.exception import DBConnectionError, DBDuplicateEntry
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from lease_scheduler.rehearsal.runtime import current, database, dbapi
from lease_scheduler.rehearsal.runtime.database import DatabaseFaults, DatabaseServer, Moment
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.faults import is_full
from tests.unit.rehearsal.runtime.conftest import Start

_INSERT = text("INSERT INTO numbers VALUES (:value)")


class _Strike(DatabaseFaults):
    """Strikes one kind of statement once.

    :param make: makes the error
    """

    def __init__(self, statement: str, moment: Moment, make: Callable[[], BaseException]) -> None:
        self._place, self._make = (statement, moment), make
        self._is_over = False

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        if not self._is_over and (statement.split()[0], moment) == self._place:
            self._is_over = True
            raise self._make()


@pytest.fixture
def server(scheduler: Scheduler) -> Iterator[DatabaseServer]:
    made = DatabaseServer(scheduler)
    made.raw.execute("CREATE TABLE numbers (value INTEGER PRIMARY KEY)")
    yield made
    made.close()


def _opened() -> Engine:
    return open_database("rehearsal+memory:///world", max_pool_size=2, max_overflow=0, pool_timeout=30)


def _insert(engine: Engine, value: int) -> None:
    with engine.begin() as connection:
        connection.execute(_INSERT, {"value": value})


def _in_process(scheduler: Scheduler, start: Start, main: Callable[[Engine], object]) -> None:
    ended: list[bool] = []

    def run() -> None:
        main(_opened())
        ended.append(True)

    start(run)
    scheduler.run(1_000)
    assert scheduler.crashes == []
    assert ended


def _numbers(server: DatabaseServer) -> list[int]:
    return [value for (value,) in server.raw.execute("SELECT value FROM numbers ORDER BY value")]


def test_transactions_are_committed_or_rolled_back(scheduler: Scheduler, start: Start, server: DatabaseServer) -> None:
    def main(engine: Engine) -> None:
        _insert(engine, 1)
        with engine.connect() as connection:
            connection.execute(_INSERT, {"value": 2})
        with pytest.raises(DBDuplicateEntry):
            _insert(engine, 1)
        with engine.begin() as connection:
            connection.execute(_INSERT, [{"value": value} for value in (3, 4, 5)])
            assert connection.execute(text("SELECT COUNT(*) FROM numbers")).scalar() == 4
            found = connection.execute(text("SELECT value FROM numbers ORDER BY value"))
            assert found.fetchmany(2) == [(1,), (3,)]
            assert found.fetchall() == [(4,), (5,)]

    _in_process(scheduler, start, main)
    assert _numbers(server) == [1, 3, 4, 5]


@pytest.mark.parametrize(
    ("statement", "moment", "is_there"),
    [
        ("INSERT", Moment.BEFORE, False),
        ("INSERT", Moment.AFTER, False),
        ("COMMIT", Moment.BEFORE, False),
        ("COMMIT", Moment.AFTER, True),
    ],
)
def test_a_lost_connection_is_told_as_with_other_databases_and_replaced(
    scheduler: Scheduler, start: Start, server: DatabaseServer, statement: str, moment: Moment, is_there: bool
) -> None:
    def main(engine: Engine) -> None:
        server.faults = _Strike(statement, moment, database.ConnectionLostError)
        with pytest.raises(DBConnectionError):
            _insert(engine, 1)
        _insert(engine, 2)

    _in_process(scheduler, start, main)
    assert _numbers(server) == ([1, 2] if is_there else [2])


@pytest.mark.parametrize("make", [database.disk_full, database.read_only, database.lock_timeout])
def test_other_errors_of_the_database_roll_back(
    scheduler: Scheduler, start: Start, server: DatabaseServer, make: Callable[[], BaseException]
) -> None:
    def main(engine: Engine) -> None:
        server.faults = _Strike("INSERT", Moment.BEFORE, make)
        with pytest.raises(OperationalError) as caught:
            _insert(engine, 1)
        assert not caught.value.connection_invalidated
        assert is_full(caught.value) == (make is database.disk_full)
        _insert(engine, 2)

    _in_process(scheduler, start, main)
    assert _numbers(server) == [2]


def test_a_database_that_is_away_refuses_connections(
    scheduler: Scheduler, start: Start, server: DatabaseServer
) -> None:
    class Away(DatabaseFaults):
        def connect(self, process: Process) -> None:
            raise database.ConnectionLostError

    def main(engine: Engine) -> None:
        engine.dispose()
        server.faults = Away()
        with pytest.raises(DBConnectionError):
            _insert(engine, 1)
        server.faults = DatabaseFaults()
        _insert(engine, 2)

    _in_process(scheduler, start, main)
    assert _numbers(server) == [2]


def test_threads_wait_for_connections_of_the_pool(scheduler: Scheduler, start: Start, server: DatabaseServer) -> None:
    class Slow(DatabaseFaults):
        def strike(self, process: Process, statement: str, moment: Moment) -> None:
            if statement == database.COMMIT and moment is Moment.AFTER:
                scheduler.sleep(1)

    def main(engine: Engine) -> None:
        server.faults = Slow()
        threads = [Thread(target=_insert, args=(engine, value)) for value in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Only two of them can wait for the end of their commits at a time.
        assert scheduler.now == 3.0

    _in_process(scheduler, start, main)
    assert _numbers(server) == list(range(6))


def test_connections_exist_in_a_world_only() -> None:
    with pytest.raises(current.NoWorldError):
        dbapi.connect()
