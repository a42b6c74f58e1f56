"""``lease-scheduler-manage`` and ``lease-scheduler-status`` on a database without an engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from lease_scheduler.records.pool import HostRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.commands.programs import Ended, run, write_configuration

Manage = Callable[..., Ended]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/test.sqlite"


@pytest.fixture
def configuration(tmp_path: Path, url: str) -> str:
    return str(write_configuration(tmp_path, url))


@pytest.fixture
def manage(tmp_path: Path, configuration: str) -> Manage:
    return lambda *words: run("manage", *words, "--config-file", configuration, folder=tmp_path)


def _line(ended: Ended) -> str:
    """Return the only line of a command's refusal."""
    assert ended.status == 2, ended.output
    (line,) = ended.errors.strip().splitlines()
    assert line.startswith("lease-scheduler-manage: ")
    return line


def test_tables(manage: Manage, configuration: str, tmp_path: Path) -> None:
    before = manage("db", "version")
    assert (before.status, "db sync" in before.output) == (0, True)
    for _ in range(2):
        assert manage("db", "sync").output == f"the tables are at revision {migrate.newest()}\n"
    # Options may come before the command, as in other programs.
    ended = run("manage", "--config-file", configuration, "db", "version", folder=tmp_path)
    assert ended.output == f"{migrate.newest()}\n"
    assert manage("db", "purge", "--older-than", "30", "--dry-run").output == "0 leases would be forgotten\n"
    assert manage("db", "purge", "--older-than", "30").output == "0 leases were forgotten\n"
    assert "--older-than" in _line(manage("db", "purge", "--older-than", "-1"))


def test_what_needs_an_engine_says_at_once_that_there_is_none(manage: Manage, url: str) -> None:
    """Also after an engine has led and stopped: no command waits for an RPC answer, which would take ten seconds."""
    assert manage("db", "sync").status == 0
    assert "nobody: there is no such host" in _line(manage("host", "remove", "nobody"))
    database = open_database(url)
    store = SqlStore(database)
    store.take_over("engine", 1_000)
    store.commit(StoreChanges(1_000, hosts={1: HostRecord(1, "compute-1", 4, 1024, 0, 1_000, {"VCPU": 4})}))
    database.dispose()
    for words in (("host", "add", "compute-1"), ("pool", "fill"), ("host", "remove", "compute-1")):
        begun = time.monotonic()
        manage("db", "version")
        start = time.monotonic() - begun
        begun = time.monotonic()
        assert "no engine leads site default" in _line(manage(*words))
        # In addition to the time that a command takes to start.
        assert time.monotonic() - begun < 3 * start + 5


def test_reconcile_without_an_engine(manage: Manage) -> None:
    """An engine that runs only for the command."""
    assert manage("db", "sync").status == 0
    for words in (("reconcile", "--dry-run"), ("reconcile",)):
        ended = manage(*words)
        assert (ended.status, "nothing differs" in ended.output) == (0, True), ended


def test_uninstall_without_an_engine(manage: Manage, url: str) -> None:
    """Live leases are a reason to refuse; the hosts are given back, and the command may be repeated."""
    assert manage("db", "sync").status == 0
    database = open_database(url)
    store = SqlStore(database)
    store.take_over("engine", 1_000)
    store.commit(StoreChanges(1_000, hosts={1: HostRecord(1, "host-1", 4, 1024, 0, 1_000, {"VCPU": 4})}))
    listed = manage("uninstall", "--dry-run")
    assert listed.output == "host host-1 leaves the pool\nnothing was changed\n", listed
    assert [host["name"] for host in SqlReader(database).hosts()] == ["host-1"]
    for _ in range(2):
        ended = manage("uninstall")
        assert (ended.status, ended.output) == (0, "nothing is left in the cloud\n"), ended
        assert SqlReader(database).hosts() == []
    database.dispose()


def test_words_that_are_no_command(manage: Manage) -> None:
    for words in ((), ("db",), ("host", "add"), ("db", "purge"), ("dance",)):
        ended = manage(*words)
        assert (ended.status, ended.output) == (2, "")
        assert "usage: lease-scheduler-manage" in ended.errors


def test_upgrade_check(url: str, configuration: str, tmp_path: Path) -> None:
    def check() -> Ended:
        return run("status", "--config-file", configuration, "upgrade", "check", folder=tmp_path)

    empty = check()
    assert (empty.status, "Failure" in empty.output) == (2, True)
    database = open_database(url)
    migrate.upgrade(database)
    current = check()
    assert (current.status, "Failure" in current.output) == (1, False)
    # The table breaks lines.
    said = " ".join(current.output.replace("|", " ").split())
    assert "Check: Cloud Result: Warning Details: [service] cloud = simulated: the 4 hosts of the cloud are" in said
    written = Path(configuration).read_text()
    Path(configuration).write_text(written.replace("cloud = simulated\n", ""))
    forgotten = check()
    assert (forgotten.status, "service.cloud: is needed" in forgotten.output) == (2, True)
    Path(configuration).write_text(written)
    with database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    database.dispose()
    old = check()
    assert (old.status, "0000" in old.output) == (2, True)
    Path(configuration).write_text("[database]\nconnection = unknown://host/name\n")
    unreachable = check()
    assert (unreachable.status, "cannot be read" in unreachable.output) == (2, True)
