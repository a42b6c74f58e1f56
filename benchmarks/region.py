"""One engine for a whole region: ``python -m benchmarks.region [--hosts N] [--leases N]``.

A database (SQLite) gets hosts and live leases. An engine's plan is restored from it and decides about reservations. All
times are processor time, so that other work on the machine changes them little.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table
from sqlalchemy import Engine, insert, update
from sqlalchemy import Table as SqlTable

from benchmarks.machine import console
from benchmarks.plans import DAY, HOST, empty_planner, fill
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cmd.memory import keep_what_is_loaded
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from lease_scheduler.records.pool import HostRecord
from lease_scheduler.records.units import Units
from lease_scheduler.service.core.clock import AcceleratedClock
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.lease_documents import LeaseDocuments
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.store.sql import migrate, pool_rows, rows
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.schema import HOLDINGS, HOSTS, LEASE_RESERVATIONS, LEASES, SITES
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.site_engine import site_policies

_SEED = 7
_PROJECTS = 500
_DECISIONS = 30
_CHUNK = 5_000
#: 1 January 2030, 0:00 UTC.
_NOW = 1_893_456_000


def _host(number: int) -> HostRecord:
    return HostRecord(
        host_id=number,
        name=f"compute-{number}",
        vcpus=32,
        memory_mb=131_072,
        local_gb=1_000,
        created_at=0,
        capacity={**HOST, HOST_SHARE: WHOLE_HOST},
        cpu_info="{}",
    )


def _reservation(lease: Lease) -> ReservationRecord:
    lease_id, nodes = lease.lease_id, len(lease.holdings[0].assignment)
    return ReservationRecord(f"r-{lease_id}", "virtual:instance", "r", {"vcpus": 2}, 1, _NOW, 0, nodes)


def _insert(database: Engine, table: SqlTable, values: Iterable[dict[str, Any]]) -> None:
    waiting: list[dict[str, Any]] = []
    with database.begin() as connection:
        for each in values:
            waiting.append(each)
            if len(waiting) == _CHUNK:
                connection.execute(insert(table), waiting)
                waiting = []
        if waiting:
            connection.execute(insert(table), waiting)


def _write(url: str, hosts: int, leases: int) -> None:
    """Write hosts and live leases into a new database; runs in a process of its own, whose memory does not count."""
    database = open_database(url)
    migrate.upgrade(database)
    SqlStore(database).take_over("first", _NOW)
    planner = empty_planner(hosts)
    # Nothing begins while decisions are measured.
    fill(planner, leases, _NOW + DAY, _SEED)
    units = Units()
    for number in range(hosts):
        units.assign(str(number + 1), number)
    _insert(database, HOSTS, (pool_rows.host_values(_host(number)) for number in range(1, hosts + 1)))
    live = list(planner.plan.leases.values())
    documents = [
        LeaseDocument(
            lease_id=lease.lease_id,
            name=lease.lease_id,
            project_id=f"project-{lease.sequence % _PROJECTS}",
            user_id="user",
            created_at=_NOW,
            reservations=(_reservation(lease),),
        )
        for lease in live
    ]
    _insert(
        database,
        LEASES,
        (
            {**rows.lease_values(lease, document, units), "revision": 1, "version": 1}
            for lease, document in zip(live, documents, strict=True)
        ),
    )
    with database.begin() as connection:
        connection.execute(update(SITES).values(next_sequence=leases))
    _insert(database, HOLDINGS, (rows.holding_values(each.lease_id, 0, each.holdings[0], units) for each in live))
    _insert(
        database,
        LEASE_RESERVATIONS,
        (values for document in documents for values in rows.document_reservations(document)),
    )


def _timed(action: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = action()
    return time.process_time() - began, result


def _document(number: int) -> dict[str, Any]:
    start = _NOW + DAY + number * 3_600
    made = lease_document(f"new {number}", "reservation", 4, start=start, end=start + 2 * DAY, project_id="project-1")
    (reservation,) = made["reservations"]
    return {**made, "reservations": [{**reservation, "memory_mb": 32_768, "disk_gb": 160}]}


def _measure(folder: Path, hosts: int, leases: int) -> dict[str, str]:
    url = f"sqlite:///{folder}/region.sqlite"
    writer = multiprocessing.get_context("spawn").Process(target=_write, args=(url, hosts, leases))
    writer.start()
    writer.join()
    assert writer.exitcode == 0
    database = open_database(url)
    with tempfile.TemporaryDirectory() as scratch:
        clock = AcceleratedClock(_NOW, 0.0001)
        store = SqlStore(database)
        store.take_over("engine", _NOW)
        cloud = SimulatedCloud(f"{scratch}/cloud.sqlite", clock, CloudBehaviour())
        options = ServiceOptions(EngineOptions(explain_refusals=False))
        restart, plan = _timed(
            partial(
                SiteTransactions, store, cloud, clock, site_policies(deadline_preemption=True), options, lambda: None
            )
        )
        found = {"restart from the database, s": f"{restart:.1f}"}
        keep_what_is_loaded()
        found["memory of the process, GiB"] = f"{_memory():.2f}"
        service = Leases(plan, Enforcement())
        service.create({}, _document(0))
        taken = [_timed(partial(service.create, {}, _document(number)))[0] for number in range(1, _DECISIONS + 1)]
        found["reservation: decided and written, ms"] = f"{1_000 * median(taken):.1f}"
        found["the longest of them, ms"] = f"{1_000 * max(taken):.1f}"
        requests = [LeaseDocuments(plan).terms(_document(number)).request for number in range(_DECISIONS)]
        quotes = [_timed(partial(plan.engine.quote, each))[0] for each in requests]
        found["reservation: the decision alone, ms"] = f"{1_000 * median(quotes):.1f}"
        terms = [_timed(partial(LeaseDocuments(plan).terms, _document(1)))[0] for _ in range(5)]
        found["terms of a request, ms"] = f"{1_000 * median(terms):.1f}"
        steps = [_timed(plan.step)[0] for _ in range(5)]
        found["step in which nothing is due, ms"] = f"{1_000 * median(steps):.1f}"
    database.dispose()
    return found


def _memory() -> float:
    """Return the largest resident memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.region", description=__doc__)
    parser.add_argument("--hosts", type=int, default=100_000, help="default: 100000")
    parser.add_argument("--leases", type=int, default=100_000, help="live leases (default: 100000)")
    given = parser.parse_args()
    out = console()
    with tempfile.TemporaryDirectory(prefix="region-") as name:
        found = _measure(Path(name), given.hosts, given.leases)
    table = Table("what", "figure", title=f"{given.hosts:,} hosts, {given.leases:,} live leases")
    for what, figure in found.items():
        table.add_row(what, figure)
    out.print(table)


if __name__ == "__main__":
    main()
