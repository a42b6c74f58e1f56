"""Several engines on one database: one leads, another takes over, and a deposed engine can write nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.crash.cloud_record import overfull
from tests.functional.lease_document import lease_document
from tests.functional.service.programs import CONTEXT, LIMIT, Programs, insist
from tests.servers.base import OwnProcess, wait_until

#: The client library does not close connections that a server has dropped.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(params=["file", "mysql"])
def programs(request: pytest.FixtureRequest, tmp_path: Path, mariadb_url: str, rabbitmq_url: str) -> Iterator[Programs]:
    """A site whose engines elect a leader, with each kind of lock."""
    coordination = None
    if request.param == "mysql":
        coordination = mariadb_url.replace("mysql+pymysql://", "mysql://").partition("?")[0]
    made = Programs(tmp_path, mariadb_url, rabbitmq_url, coordination_url=coordination)
    yield made
    made.close()


def _leads(programs: Programs, engine: OwnProcess) -> bool:
    return "this engine leads" in programs.log(engine)


def test_an_engine_that_hangs_is_deposed_and_writes_nothing_any_more(
    programs: Programs, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = [programs.engine("one"), programs.engine("two")]
    client = programs.client(timeout=3.0)
    programs.register(client)
    first = next(engine for engine in engines if _leads(programs, engine))
    second = next(engine for engine in engines if engine is not first)
    assert not _leads(programs, second)
    now = int(time.time())
    before = lease_document("starts while nobody leads", "reservation", start=now + 8, end=now + 600)
    insist(lambda: client.create_lease(CONTEXT, before))
    epoch, name = programs.leader()
    pid = programs.leader_pid()
    os.kill(pid, signal.SIGSTOP)
    stopped = time.monotonic()
    try:
        assert wait_until(lambda: programs.leader()[0] > epoch, LIMIT), programs.log(second)
        taken_over = time.monotonic() - stopped
        assert wait_until(lambda: programs.state(before) == "active", LIMIT), programs.state(before)
        with capsys.disabled():
            print(f"\nan engine that hangs is replaced after {taken_over:.1f} s")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert wait_until(lambda: "does not lead any more" in programs.log(first), LIMIT), programs.log(first)
    later = programs.leader()
    assert later == (epoch + 1, later[1])
    assert later[1] != name
    # New requests are answered by the engine that leads.
    after = lease_document("asked for afterwards", "immediate", duration=600)
    insist(lambda: client.create_lease(CONTEXT, after))
    assert wait_until(lambda: programs.state(after) == "active", LIMIT)
    assert programs.leader() == later, "the deposed engine took the site back"
    history = [entry["to"] for entry in programs.reader.history(before["id"])]
    assert history == ["ready", "active"]
    assert overfull(programs.cloud_path) == []


def test_an_engine_that_ends_is_replaced_at_once(programs: Programs, capsys: pytest.CaptureFixture[str]) -> None:
    engines = [programs.engine("one"), programs.engine("two")]
    client = programs.client(timeout=3.0)
    programs.register(client)
    first = next(engine for engine in engines if _leads(programs, engine))
    epoch, _ = programs.leader()
    begun = time.monotonic()
    first.end(signal.SIGTERM, 30)
    assert wait_until(lambda: programs.leader()[0] > epoch, LIMIT)
    with capsys.disabled():
        print(f"\nan engine that ends is replaced after {time.monotonic() - begun:.1f} s")
    lease = lease_document("asked for afterwards", "immediate", duration=600)
    insist(lambda: client.create_lease(CONTEXT, lease))
    assert wait_until(lambda: programs.state(lease) == "active", LIMIT)


@pytest.mark.parametrize("programs", ["mysql"], indirect=True)
def test_an_engine_whose_lock_is_lost_leads_again(programs: Programs, request: pytest.FixtureRequest) -> None:
    """MySQL drops a lock with its connection, which tooz's driver does not notice by itself."""
    server = request.getfixturevalue("mariadb_server")
    engine = programs.engine()
    client = programs.client(timeout=3.0)
    programs.register(client)
    epoch, _ = programs.leader()
    server.kill()
    assert wait_until(lambda: "does not lead any more" in programs.log(engine), LIMIT), programs.log(engine)
    server.ensure_running()
    assert wait_until(lambda: programs.leader()[0] > epoch, LIMIT), programs.log(engine)
    lease = lease_document("asked for afterwards", "immediate", duration=600)
    insist(lambda: client.create_lease(CONTEXT, lease))
    assert wait_until(lambda: programs.state(lease) == "active", LIMIT)
