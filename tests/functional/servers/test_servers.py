"""The servers that other tests use: they start, answer, are killed, and come back with their data."""

from __future__ import annotations

import importlib
import os
import queue
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.pool import NullPool

from tests.servers import fixtures
from tests.servers.base import MissingServerError, Server, ServerError, find_program, wait_until
from tests.servers.mariadb import MariaDB
from tests.servers.postgresql import PostgreSQL
from tests.servers.rabbitmq import RabbitMQ

# It has no type information.
kombu: Any = importlib.import_module("kombu")


@pytest.fixture
def own_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server that no other test uses."""
    with fixtures.running(request.param) as server:
        yield server


def query(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Run statements in one transaction and return the rows of the last one."""
    engine = sqlalchemy.create_engine(url, poolclass=NullPool)
    rows: list[tuple[object, ...]] = []
    with engine.begin() as connection:
        for statement in statements:
            result = connection.execute(sqlalchemy.text(statement))
            rows = [tuple(row) for row in result] if result.returns_rows else []
    return rows


def send(url: str, name: str, text: str) -> None:
    """Send a persistent message to a durable queue, and wait until the broker confirms it."""
    with kombu.Connection(url.replace("rabbit://", "pyamqp://"), transport_options={"confirm_publish": True}) as bus:
        producer = bus.Producer()
        producer.publish(text, routing_key=name, declare=[kombu.Queue(name, durable=True)], delivery_mode=2)


def receive(url: str, name: str, limit: float = 60) -> str:
    """Receive one message from a queue, waiting at most for the limit (seconds)."""
    with kombu.Connection(url.replace("rabbit://", "pyamqp://")) as bus:
        message = bus.SimpleQueue(kombu.Queue(name, durable=True)).get(timeout=limit)
        message.ack()
        return str(message.payload)


def group_is_gone(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False


def can_connect(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("own_server", [MariaDB, PostgreSQL], indirect=True)
def test_a_database_keeps_what_was_committed_when_it_is_killed(own_server: MariaDB | PostgreSQL) -> None:
    url = own_server.create_database("kept")
    query(url, "CREATE TABLE number (value INTEGER)", "INSERT INTO number VALUES (7)")
    pid = own_server.pid
    own_server.kill()
    assert group_is_gone(pid)
    assert not own_server.is_running()
    with pytest.raises(sqlalchemy.exc.OperationalError):
        query(url, "SELECT value FROM number")
    own_server.start()
    assert query(url, "SELECT value FROM number") == [(7,)]
    query(url, "INSERT INTO number VALUES (8)")
    own_server.restart()
    assert query(url, "SELECT value FROM number ORDER BY value") == [(7,), (8,)]


@pytest.mark.parametrize("own_server", [RabbitMQ], indirect=True)
def test_a_broker_keeps_lasting_messages_when_it_is_killed(own_server: RabbitMQ) -> None:
    url = own_server.create_virtual_host("kept")
    send(url, "letters", "first")
    send(url, "letters", "second")
    # Confirmed messages are on the disk, but the broker writes a new queue only up to two seconds later, and without
    # its queue a message cannot be found.
    time.sleep(3)
    pid = own_server.pid
    own_server.kill()
    assert group_is_gone(pid)
    assert not can_connect(own_server.port)
    own_server.start()
    assert [receive(url, "letters"), receive(url, "letters")] == ["first", "second"]


@pytest.mark.parametrize("own_server", [MariaDB, PostgreSQL, RabbitMQ], indirect=True)
def test_nothing_is_left_after_the_end_and_nothing_listens_beyond_loopback(own_server: Server) -> None:
    pids = [process.pid for process in own_server._processes]
    addresses = set().union(*(listening_addresses(pid) for pid in pids))
    assert addresses, "it must listen somewhere"
    assert addresses <= {"127.0.0.1", "::1"}
    port = own_server.port
    own_server.stop()
    assert wait_until(lambda: all(group_is_gone(pid) for pid in pids), 30)
    assert not can_connect(port)
    own_server.stop()


def test_each_test_has_an_empty_database_of_its_own_mariadb(mariadb_url: str, mariadb_server: MariaDB) -> None:
    is_empty_and_separate(mariadb_url, mariadb_server.create_database)


def test_each_test_has_an_empty_database_of_its_own_postgresql(
    postgresql_url: str, postgresql_server: PostgreSQL
) -> None:
    is_empty_and_separate(postgresql_url, postgresql_server.create_database)


def is_empty_and_separate(url: str, create_database: Callable[[str], str]) -> None:
    def tables(of: str) -> list[str]:
        return sqlalchemy.inspect(sqlalchemy.create_engine(of, poolclass=NullPool)).get_table_names()

    assert tables(url) == []
    query(url, "CREATE TABLE only_here (value INTEGER)")
    assert tables(url) == ["only_here"]
    assert tables(create_database("another")) == []


def test_each_test_has_a_virtual_host_of_its_own(rabbitmq_url: str, rabbitmq_server: RabbitMQ) -> None:
    send(rabbitmq_url, "letters", "here")
    here = rabbitmq_url.rpartition("/")[2]
    assert [(found["vhost"], found["name"]) for found in rabbitmq_server.manage("GET", "queues")] == [(here, "letters")]
    other = rabbitmq_server.create_virtual_host("another")
    with pytest.raises(queue.Empty):
        receive(other, "letters", limit=1)


def test_a_server_that_was_killed_runs_again_when_it_is_asked_for(mariadb_server: MariaDB) -> None:
    mariadb_server.kill()
    mariadb_server.ensure_running()
    assert query(mariadb_server.url, "SELECT 1") == [(1,)]


def test_what_keeps_a_server_from_starting_is_shown_from_its_log(tmp_path: Path) -> None:
    server = MariaDB(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as occupant:
        server.port = occupant.getsockname()[1]
        with pytest.raises(ServerError, match=r"mariadb ended after its start(.|\n)*Address already in use"):
            server.start()
    assert not server.is_running()


def test_a_program_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingServerError, match="no-such-program is not installed"):
        find_program("no-such-program")
    monkeypatch.delenv(fixtures.REQUIRE_SERVERS, raising=False)
    with pytest.raises(pytest.skip.Exception, match="x is not installed"):
        fixtures.missing("x is not installed")
    monkeypatch.setenv(fixtures.REQUIRE_SERVERS, "1")
    with pytest.raises(pytest.fail.Exception, match="x is not installed"):
        fixtures.missing("x is not installed")


def listening_addresses(pid: int) -> set[str]:
    """Return the addresses on which a process listens, as the kernel reports them."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except FileNotFoundError:
            # It has been closed meanwhile.
            continue
        if target.startswith("socket:["):
            sockets.add(target[len("socket:[") : -1])
    found = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                words = fields[1].partition(":")[0]
                # The kernel writes each group of 32 bits in the order of this machine's memory.
                raw = b"".join(bytes.fromhex(words[at : at + 8])[::-1] for at in range(0, len(words), 8))
                found.add(socket.inet_ntop(family, raw))
    return found
