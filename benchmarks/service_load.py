"""Many clients at once: ``python -m benchmarks.service_load``.

API and engine run as two processes, with MariaDB, RabbitMQ and tokens that a stand-in of Keystone checks. Clients in
another process create leases at the same time, and one client lists them. What is printed is the processor time of API
and engine for a request, and how many requests a second were answered with everything on this machine.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from rich.table import Table

from benchmarks.machine import console
from benchmarks.service_against_blazar.ours import Ours
from benchmarks.service_against_blazar.service import lease_body
from benchmarks.service_against_blazar.surroundings import HEADERS, servers, surroundings
from benchmarks.service_against_blazar.workload import Cell, workload
from tests.servers.base import OwnProcess

_HOURS = 48
_HOSTS_EACH = 2
_LISTS = 20
#: Creates before the measurement: they open connections and fill caches.
_FIRST = 50


class _Watched(Ours):
    """Our service, whose processes are known."""

    def launch(self) -> list[OwnProcess]:
        self.api_process, self.engine_process = launched = super().launch()
        return launched

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor time that each process has taken so far."""
        pids = {"API": self.api_process.pid, "engine": self.engine_process.pid}
        return {name: _seconds(pid) for name, pid in pids.items()}


def _seconds(pid: int) -> float:
    """Return the processor time of a process and of its children: the engine has one that does the work."""
    # Behind the name of the program, which is in parentheses; see proc_pid_stat(5).
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    # Any of its threads may have started them.
    children = [each for file in Path(f"/proc/{pid}/task").glob("*/children") for each in file.read_text().split()]
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(_seconds(int(child)) for child in children)


def _bodies(service: Ours, cell: Cell) -> Iterator[dict[str, Any]]:
    """Yield requests behind all leases of the cell, each of which finds free hosts."""
    at_once = cell.hosts // _HOSTS_EACH
    for number in count():
        start = service.origin + timedelta(hours=cell.hours + number // at_once * _HOURS)
        yield lease_body(f"load {number}", start, _HOURS, _HOSTS_EACH)


def _create(url: str, clients: int, bodies: list[dict[str, Any]]) -> None:
    """Create leases with many clients, each of which waits for its answer; runs in a process of its own."""
    waiting, lock = iter(bodies), Lock()
    failures: list[str] = []

    def client() -> None:
        connection = HTTPConnection(urlsplit(url).netloc)
        while True:
            with lock:
                body = next(waiting, None)
            if body is None:
                return
            connection.request("POST", "/v1/leases", json.dumps(body), HEADERS)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status >= 300:
                failures.append(f"{answer.status} {text[:300]!r}")

    threads = [Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[:3]


def _list(url: str, times: int) -> int:
    """List all leases; return the length of the answer."""
    connection = HTTPConnection(urlsplit(url).netloc)
    for _ in range(times):
        connection.request("GET", "/v1/leases", headers=HEADERS)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
    return len(text)


@contextmanager
def _timed(service: _Watched, times: int, found: dict[str, str], what: str) -> Iterator[None]:
    """Note the time of the block and the processor time of the service in it, divided by the number of requests."""
    before, began = service.processor_seconds(), time.perf_counter()
    yield
    passed = time.perf_counter() - began
    taken = {name: each - before[name] for name, each in service.processor_seconds().items()}
    found[f"{what}: requests a second"] = f"{times / passed:.1f}"
    for name, each in (*taken.items(), ("both", sum(taken.values()))):
        found[f"{what}: processor time, {name}, ms"] = f"{each / times * 1_000:.1f}"


def _measure(service: _Watched, cell: Cell, clients: int, creates: int) -> dict[str, str]:
    found: dict[str, str] = {}
    service.load(workload(cell, 1))
    _list(service.url, 3)
    with _timed(service, _LISTS, found, f"list {cell.leases:,} leases"):
        size = _list(service.url, _LISTS)
    found["length of the list, kB"] = f"{size / 1e3:.0f}"
    asked = _bodies(service, cell)
    for number, what in ((_FIRST, None), (creates, f"create, {clients} clients")):
        bodies = [next(asked) for _ in range(number)]
        browser = multiprocessing.get_context("spawn").Process(target=_create, args=(service.url, clients, bodies))
        with _timed(service, number, found if what else {}, what or ""):
            browser.start()
            browser.join()
        assert browser.exitcode == 0
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service_load", description=__doc__)
    parser.add_argument("--hosts", type=int, default=50, help="default: 50")
    parser.add_argument("--leases", type=int, default=1_000, help="leases before the measurement (default: 1000)")
    parser.add_argument("--clients", type=int, default=50, help="default: 50")
    parser.add_argument("--creates", type=int, default=1_000, help="leases to create (default: 1000)")
    given = parser.parse_args()
    out = console()
    cell = Cell(given.hosts, given.leases)
    with (
        tempfile.TemporaryDirectory(prefix="service-load-") as name,
        servers(Path(name)) as (database, broker),
        surroundings(Path(name) / "cell", "cell", database, broker, cell.hosts) as around,
    ):
        service = _Watched(around, cell.hosts)
        try:
            found = _measure(service, cell, given.clients, given.creates)
        finally:
            service.close()
    table = Table("what", "figure", title=f"{cell.hosts:,} hosts, {cell.leases:,} leases before")
    for what, figure in found.items():
        table.add_row(what, figure)
    out.print(table)


if __name__ == "__main__":
    main()
