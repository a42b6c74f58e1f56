"""Engine, broker and database are killed at random instants while leases are requested, start and end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from lease_scheduler.model.errors import StoreUnavailableError
from tests.functional.crash.cloud_record import held, overfull
from tests.functional.lease_document import lease_document
from tests.functional.service.programs import CONTEXT, LIMIT, Document, Programs, insist
from tests.servers.base import Server, wait_until

#: The client library does not close connections that a server has dropped.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

_LEASES = 24
_RUN_SECONDS = 2
_ASKING = 4


@pytest.fixture(params=["mariadb", "postgresql"])
def programs(request: pytest.FixtureRequest, tmp_path: Path, rabbitmq_url: str) -> Iterator[Programs]:
    """A site on each kind of database server."""
    url = request.getfixturevalue(f"{request.param}_url")
    made = Programs(tmp_path, url, rabbitmq_url, lines="boot_time = 1\n[engine]\nreconcile_interval = 2\n")
    yield made
    made.close()


def _is_done(programs: Programs, lease: Document) -> bool:
    with suppress(StoreUnavailableError):
        return programs.state(lease) == "done"
    return False


def _load(programs: Programs, random: Random) -> list[Document]:
    """Have several clients request leases concurrently, each of them until it gets an answer."""
    client = programs.client(timeout=3.0)
    wanted = [
        lease_document(f"lease {number}", "best-effort", random.randint(1, 3), duration=_RUN_SECONDS)
        for number in range(_LEASES)
    ]

    def ask(lease: Document) -> None:
        insist(lambda: client.create_lease(CONTEXT, lease))
        # The client may not know that the request was granted, because the answer was lost; so it repeats it.
        insist(lambda: client.create_lease(CONTEXT, lease))

    with ThreadPoolExecutor(_ASKING) as pool:
        list(pool.map(ask, wanted))
    # A lease that is over by now is not created either. The database itself may be away meanwhile.
    first = wanted[0]
    assert wait_until(lambda: _is_done(programs, first), LIMIT), programs.reader.history(first["id"])
    insist(lambda: client.create_lease(CONTEXT, wanted[0]))
    return wanted


def _check(programs: Programs, wanted: list[Document]) -> None:
    """Check that no lease is lost or doubled, all have run, nothing is left, and no host was ever overcommitted."""
    finished = wait_until(
        lambda: all(programs.state(lease) in ("done", "failed", "rejected") for lease in wanted), LIMIT
    )
    views = {view["id"]: view for view in programs.reader.leases({"deleted": True})}
    assert finished, [(view["name"], view["state"], view["reason"]) for view in views.values()]
    assert set(views) == {lease["id"] for lease in wanted}
    for view in views.values():
        history = [entry["to"] for entry in programs.reader.history(view["id"])]
        assert view["state"] == "done", (view, history)
        assert view["accumulated"] >= _RUN_SECONDS, (view, history)
        assert history.count("done") == 1
    assert wait_until(lambda: programs.intents() == 0 and held(programs.cloud_path) == 0, LIMIT)
    assert overfull(programs.cloud_path) == []


@pytest.mark.parametrize("programs", ["mariadb"], indirect=True)
def test_the_engine_is_killed_at_random_instants(programs: Programs) -> None:
    random = Random(20261121)
    engine = programs.engine()
    programs.register(programs.client(timeout=3.0))
    with ThreadPoolExecutor(1) as pool:
        load = pool.submit(_load, programs, random)
        for _ in range(4):
            epoch, _ = programs.leader()
            # Some seconds or less after it has started to lead.
            time.sleep(random.uniform(0.2, 3))
            engine.kill()
            engine = programs.engine()
            assert wait_until(lambda epoch=epoch: programs.leader()[0] > epoch, LIMIT)  # type: ignore[misc]
        wanted = load.result(LIMIT)
    _check(programs, wanted)


@pytest.mark.parametrize("programs", ["mariadb"], indirect=True)
def test_the_broker_is_killed_while_leases_start(programs: Programs, rabbitmq_server: Server) -> None:
    _server_is_killed(programs, rabbitmq_server)


def test_the_database_is_killed_while_leases_start(programs: Programs, request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["programs"]
    server = request.getfixturevalue(f"{kind}_server")
    assert isinstance(server, Server)
    _server_is_killed(programs, server)


def _server_is_killed(programs: Programs, server: Server) -> None:
    """Kill a server during the load; the programs recover by themselves when it is back."""
    random = Random(7)
    programs.engine()
    programs.register(programs.client(timeout=3.0))
    with ThreadPoolExecutor(1) as pool:
        load = pool.submit(_load, programs, random)
        assert wait_until(lambda: len(programs.reader.leases({"deleted": True})) >= _LEASES // 3, LIMIT)
        server.kill()
        server.ensure_running()
        wanted = load.result(2 * LIMIT)
    _check(programs, wanted)
