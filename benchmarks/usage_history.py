"""The cost of usage queries on a year of history: ``python -m benchmarks.usage_history``.

A year of leases, each with one interval of usage and one record of revenue, is put into a database of each kind. Then
the reader is queried as the REST service queries it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from rich.table import Table
from sqlalchemy import Engine, insert, text

from benchmarks.machine import console
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.schema import LEASES, REVENUE, USAGE
from tests.servers.mariadb import MariaDB
from tests.servers.postgresql import PostgreSQL

_DAY = 86_400
_YEAR = 365 * _DAY
_BEGIN = 20_000 * _DAY
_PROJECTS = 100
_CHUNK = 5_000
_SEED = 7


def _rows(leases: int) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield a lease, its usage and its revenue, in the order of their ends."""
    random = Random(_SEED)
    for number in range(leases):
        project = f"project-{min(int(random.expovariate(0.1)), _PROJECTS - 1)}"
        # From minutes to days, as in logs of large machines.
        length = min(int(random.lognormvariate(8, 1.6)) + 1, 10 * _DAY)
        end = _BEGIN + number * _YEAR // leases
        start, nodes = end - length, random.choice([1, 1, 1, 2, 4, 8])
        size = random.choice([1, 2, 4, 8])
        resources = {"VCPU": size, "MEMORY_MB": 2_048 * size, "DISK_GB": 20}
        kind = random.choice(["reservation", "best-effort", "best-effort", "deadline"])
        name = f"{number:036d}"
        lease = {
            "id": name,
            "sequence": number,
            "version": 3,
            "revision": 3 * number,
            "name": f"lease {number}",
            "project_id": project,
            "user_id": "user",
            "kind": kind,
            "maintenance": False,
            "submitted": start - 600,
            "duration": length,
            "preemptible": True,
            "preemption_mode": "suspend",
            "nodes": [{"count": nodes, "resources": resources}],
            "servers": [],
            "on_end": "delete",
            "extras": {},
            "state": "done",
            "reason": "",
            "degraded": False,
            "before_end_done": True,
            "accumulated": length,
            "started": start,
            "ended": end,
            "planned_start": start,
            "planned_end": end,
            "created_at": start - 600,
        }
        usage = {
            "lease_id": name,
            "project_id": project,
            "kind": kind,
            "phase": "run",
            "start": start,
            "end": end,
            "nodes": nodes,
            "resources": {key: amount * nodes for key, amount in resources.items()},
            "hosts": [str(random.randrange(1, 500)) for _ in range(nodes)],
        }
        revenue = {
            "lease_id": name,
            "project_id": project,
            "instant": end,
            "outcome": "earned",
            "price": nodes * length / 3_600,
            "max_price": None,
        }
        yield lease, usage, revenue


def _fill(database: Engine, leases: int) -> None:
    chunk: list[tuple[dict[str, Any], ...]] = []
    for number, row in enumerate(_rows(leases), start=1):
        chunk.append(row)
        if len(chunk) == _CHUNK or number == leases:
            with database.begin() as connection:
                for table, values in zip((LEASES, USAGE, REVENUE), zip(*chunk, strict=True), strict=True):
                    connection.execute(insert(table), list(values))
            chunk = []
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        tables = ("leases", "usage_records", "revenue_records")
        if database.dialect.name == "mysql":
            connection.execute(text(f"ANALYZE TABLE {', '.join(tables)}")).all()
        else:
            connection.execute(text("ANALYZE"))


def _questions(reader: SqlReader) -> dict[str, Callable[[], object]]:
    end = _BEGIN + _YEAR
    month, year = end - 30 * _DAY, end - _YEAR
    return {
        "a project, month by day": lambda: reader.usage("project-3", month, end, end, _DAY),
        "a project, year by day": lambda: reader.usage("project-3", year, end, end, _DAY),
        "all, day by hour": lambda: reader.usage(None, end - _DAY, end, end, 3_600),
        "all, month by day": lambda: reader.usage(None, month, end, end, _DAY),
        "all, year by day": lambda: reader.usage(None, year, end, end, _DAY),
        "all, first month by day": lambda: reader.usage(None, year, year + 30 * _DAY, end, _DAY),
        "revenue of all, month by day": lambda: reader.revenue(None, month, end, _DAY),
        "revenue of all, year by day": lambda: reader.revenue(None, year, end, _DAY),
        "waits of all, month": lambda: reader.delays(None, month, end),
        "waits of all, year": lambda: reader.delays(None, year, end),
    }


def _seconds(ask: Callable[[], object], repetitions: int) -> float:
    found = []
    for _ in range(repetitions):
        began = time.perf_counter()
        ask()
        found.append(time.perf_counter() - began)
    return median(found)


def _measure(url: str, leases: int, repetitions: int) -> dict[str, float]:
    database = open_database(url)
    migrate.upgrade(database)
    _fill(database, leases)
    reader = SqlReader(database)
    found = {name: _seconds(ask, repetitions) for name, ask in _questions(reader).items()}
    database.dispose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.usage_history", description=__doc__)
    parser.add_argument("--leases", type=int, default=1_000_000, help="in the year (default: 1,000,000)")
    parser.add_argument("--repetitions", type=int, default=3, help="of which the median is taken (default: 3)")
    parser.add_argument(
        "--databases", nargs="+", default=["sqlite", "mariadb", "postgresql"], help="default: all three"
    )
    given = parser.parse_args()
    out = console()
    measured = {}
    for name in given.databases:
        with tempfile.TemporaryDirectory() as folder:
            if name == "sqlite":
                measured[name] = _measure(f"sqlite:///{folder}/history.sqlite", given.leases, given.repetitions)
                continue
            server: MariaDB | PostgreSQL = MariaDB(Path(folder)) if name == "mariadb" else PostgreSQL(Path(folder))
            server.start()
            try:
                url = server.create_database("history")
                measured[name] = _measure(url, given.leases, given.repetitions)
            finally:
                server.kill()
    table = Table("question", *measured, title=f"{given.leases:,} leases within a year, s")
    for question in next(iter(measured.values())):
        table.add_row(question, *(f"{of_database[question]:.3f}" for of_database in measured.values()))
    out.print(table)


if __name__ == "__main__":
    main()
