"""How late leases start when a fault hits their start; the figures are printed.

No lease can start while the database or the broker is away, so lateness counts from the planned start or from the end
of the fault, whichever is later. Of the engine, its process is killed, which its supervisor starts again, or the
supervisor as well, as when a machine's service manager starts the whole program again. Both count from the planned
start: the time to load the program counts, too.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from statistics import median

import pytest

from tests.functional.lab.service import LIMIT, Document, Service, as_date
from tests.servers.base import wait_until

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: Names for our engine's process, and for it with its supervisor, beside the servers of the lab.
_ENGINE, _PROGRAM = "engine", "engine program"

#: Allowed lateness in seconds.
_AIMS = {_ENGINE: 3.0, _PROGRAM: 3.0, "mariadb": 5.0, "rabbitmq": 5.0}

#: Seconds for which a server is away; meanwhile its clients retry less and less often.
_AWAY = 12.0

_ROUNDS = 3

#: Seconds from the request to the start, for which the machine may be busy.
_AHEAD = 20.0


@pytest.fixture
def leases(service: Service) -> Iterator[list[Document]]:
    """Leases that are deleted after the test."""
    made: list[Document] = []
    yield made
    for lease in made:
        assert wait_until(lambda lease=lease: _is_cancelled(service, lease), LIMIT)  # type: ignore[misc]


def _is_cancelled(service: Service, lease: Document) -> bool:
    return service.ask(service.operator, "DELETE", f"leases/{lease['id']}").status_code in (204, 404)


@pytest.mark.parametrize("is_managed", [False, True], ids=["capacity", "managed"])
@pytest.mark.parametrize("victim", sorted(_AIMS))
def test_start_in_a_fault(
    service: Service, leases: list[Document], victim: str, is_managed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server is killed a second before the start, and comes back."""
    found = [_lateness(service, leases, victim, is_managed) for _ in range(_ROUNDS)]
    late, away = ([round(each[what], 1) for each in found] for what in (0, 1))
    with capsys.disabled():
        kind = "managed" if is_managed else "capacity"
        load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
        print(f"\n{victim}, {kind} lease: late by {late} s, median {median(late)} s; {load=}")
        if victim in (_ENGINE, _PROGRAM):
            print(f"until another engine led it took {away} s, median {median(away)} s")
    assert median(late) <= _AIMS[victim], late


def _lateness(service: Service, leases: list[Document], victim: str, is_managed: bool) -> tuple[float, float]:
    """Return by how many seconds a lease is late, and how long the fault took."""
    start = int(time.time() + _AHEAD)
    servers = {"servers": [{**service.template(), "count": 1}]} if is_managed else {}
    lease = service.lease(
        service.ada,
        kind="reservation",
        start_date=as_date(start),
        end_date=as_date(start + 300),
        nodes=[{"count": 1, "resources": {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}}],
        **servers,
    )
    leases.append(lease)
    time.sleep(max(0.0, start - 1 - time.time()))
    begun = time.time()
    if victim in (_ENGINE, _PROGRAM):
        epoch, _ = service.programs.leader()
        if victim == _ENGINE:
            os.kill(service.programs.leader_pid(), signal.SIGKILL)
        else:
            service.end_engine()
            service.start_engine()
        assert wait_until(lambda: service.programs.leader()[0] > epoch, LIMIT)
        since, back = float(start), time.time()
    else:
        server = service.lab.servers[victim]
        server.kill()
        time.sleep(_AWAY)
        server.ensure_running()
        back = time.time()
        since = max(start, back)
    assert wait_until(lambda: _state(service, lease) == "active", LIMIT), service.said()
    late = time.time() - since
    service.lab.ensure_running()
    return max(0.0, late), back - begun


def _state(service: Service, lease: Document) -> str | None:
    with suppress(Exception):
        return service.programs.state(lease)
    return None
