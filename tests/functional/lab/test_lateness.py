"""How late leases begin whose start falls together with a fault; the figures are printed.

Nobody can begin a lease while the database is away or no engine runs, so what counts is the time from the planned
start, or from the end of the fault if that is later.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

import pytest

from tests.functional.lab.service import LIMIT, Document, Service, as_date
from tests.servers.base import wait_until

pytestmark = [
    pytest.mark.slow,
    # Connections that a server has dropped are not closed by the library that had them.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: Our engine among the servers of the lab.
_ENGINE = "engine"

#: Seconds that a lease may be late after the end of a fault, beyond what a program takes to be loaded.
_AIMS = {_ENGINE: 3.0, "mariadb": 5.0, "rabbitmq": 5.0}

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


@pytest.mark.parametrize("victim", sorted(_AIMS))
def test_start_in_a_fault(
    service: Service, leases: list[Document], victim: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The victim is killed a second before the start, and comes back."""
    found = [_lateness(service, leases, victim) for _ in range(_ROUNDS)]
    loading = _seconds_to_load() if victim == _ENGINE else 0.0
    late = [round(each, 1) for each in found]
    with capsys.disabled():
        print(f"\n{victim}: late by {late} s, median {median(late)} s, of which loading a program {loading:.1f} s")
    assert median(late) <= _AIMS[victim] + loading, late


def _lateness(service: Service, leases: list[Document], victim: str) -> float:
    """Seconds from the planned start, or the end of the fault, until the lease is active."""
    start = int(time.time() + _AHEAD)
    lease = service.lease(
        service.ada,
        kind="reservation",
        start_date=as_date(start),
        end_date=as_date(start + 300),
        nodes=[{"count": 1, "resources": {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}}],
    )
    leases.append(lease)
    time.sleep(max(0.0, start - 1 - time.time()))
    if victim == _ENGINE:
        service.end_engine()
        back = time.time()
        service.start_engine()
    else:
        service.lab.servers[victim].kill()
        service.lab.ensure_running()
        back = time.time()
    service.becomes(lease, "active")
    # The history has whole seconds, the beginning of which may have been earlier.
    active = service.became(lease, "active")
    return max(0.0, active - max(start, back))


def _seconds_to_load() -> float:
    """What the machine takes at present to load the engine's program."""
    begun = time.time()
    subprocess.run([sys.executable, "-c", "import lease_scheduler.cmd.engine"], check=True, timeout=LIMIT)
    return time.time() - begun
