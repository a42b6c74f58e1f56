"""The cost of open calendar pages: ``python -m benchmarks.calendar_page``.

A database of each kind gets hosts and leases, and the REST service serves it with its own server. Pages in another
process ask as the page in a browser does. What is printed is the processor time of the service alone.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode, urlsplit

from rich.table import Table
from sqlalchemy import Engine, insert, update

from benchmarks.machine import console
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.schema import HOLDINGS, HOSTS, LEASES, SITES
from tests.servers.mariadb import MariaDB
from tests.servers.postgresql import PostgreSQL

with warnings.catch_warnings():
    # oslo.middleware needs WebOb, which imports a module that Python has deprecated.
    warnings.filterwarnings("ignore", "'cgi' is deprecated", DeprecationWarning)
    from lease_scheduler.cmd import configuration, rest, wiring

_HOUR, _DAY = 3_600, 86_400
_PROJECTS = 50
_SEED = 7
_SITE = "default"
#: Seconds between two polls of a page when there are news each time, and when there are none; see ``leastWait`` and
#: ``mostWait`` of api/page/connection.js.
_NEWS, _QUIET = 10, 20
_CHUNK = 1_000


def _host(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"compute-{number}",
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8_000_000,
        "vcpus": 64,
        "cpu_info": "{}",
        "memory_mb": 262_144,
        "local_gb": 2_000,
        "service_name": f"compute-{number}",
        "capacity": {"VCPU": 64},
        "max_unit": {},
        "traits": [],
        "reservable": True,
        "created_at": 0,
    }


def _leases(count: int, hosts: int, now: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield leases around now, each with a holding; one in ten is active."""
    random = Random(_SEED)
    for number in range(count):
        length = random.choice([1, 2, 4, 8]) * _HOUR
        start = now - length // 2 if number % 10 == 0 else now + random.randrange(5 * _DAY)
        nodes = random.choice([1, 1, 2, 4])
        kind = random.choice(["reservation", "best-effort", "deadline"])
        lease = {
            "id": f"{number:036d}",
            "sequence": number,
            "version": 3,
            "revision": number + 1,
            "name": f"lease {number}",
            "project_id": f"project-{number % _PROJECTS}",
            "user_id": "user",
            "kind": kind,
            "maintenance": False,
            "submitted": now - _DAY,
            "requested_start": start,
            "duration": length,
            "preemptible": True,
            "preemption_mode": "suspend",
            "nodes": [{"count": nodes, "resources": {"VCPU": 8}}],
            "servers": [],
            "on_end": "delete",
            "extras": {},
            "state": "active" if start <= now else "ready",
            "reason": "",
            "degraded": False,
            "before_end_done": False,
            "accumulated": 0,
            "planned_start": start,
            "planned_end": start + length,
            "created_at": now - _DAY,
        }
        holding = {
            "lease_id": lease["id"],
            "position": 0,
            "start": start,
            "run_start": start,
            "run_end": start + length,
            "end": start + length,
            "closing": "shutdown",
            "hosts": [str(random.randint(1, hosts)) for _ in range(nodes)],
            "migrations": [],
        }
        yield lease, holding


def _fill(database: Engine, hosts: int, leases: int, now: int) -> None:
    rows = list(_leases(leases, hosts, now))
    site = {"name": _SITE, "epoch": 1, "engine": "none", "revision": leases, "next_sequence": leases, "clock": now}
    with database.begin() as connection:
        connection.execute(insert(SITES).values(site))
        connection.execute(insert(HOSTS), [_host(number) for number in range(1, hosts + 1)])
        for first in range(0, leases, _CHUNK):
            part = rows[first : first + _CHUNK]
            connection.execute(insert(LEASES), [lease for lease, _ in part])
            connection.execute(insert(HOLDINGS), [holding for _, holding in part])


def _change(database: Engine, number: int) -> None:
    """Change a lease, as the engine does with every step."""
    with database.begin() as connection:
        connection.execute(update(SITES).values(revision=SITES.c.revision + 1))
        revision = connection.exec_driver_sql("SELECT revision FROM sites").scalar_one()
        changed = {"reason": f"change {number}", "revision": revision}
        connection.execute(update(LEASES).where(LEASES.c.id == f"{number:036d}").values(changed))


@dataclass
class _Page:
    """An open page, which asks as api/page/connection.js does."""

    headers: Mapping[str, str]
    query: dict[str, int]
    etag: str | None = None
    size: int = field(default=0)

    def poll(self, connection: HTTPConnection) -> None:
        headers = dict(self.headers)
        if self.etag is not None:
            headers["If-None-Match"] = self.etag
        connection.request("GET", f"/v1/calendar?{urlencode(self.query)}", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        self.etag = answer.headers.get("ETag")
        self.size = len(body)
        if answer.status == 304:
            return
        assert answer.status == 200, body
        self.query["since"] = json.loads(body)["revision"]


def _browse(pipe: Pipe, url: str, queries: list[tuple[dict[str, str], dict[str, int]]]) -> None:
    """Have every page poll once whenever asked to, in a process of its own; ``complete`` begins anew."""
    connection = HTTPConnection(urlsplit(url).netloc)
    pages: list[_Page] = []
    while (asked := pipe.recv()) is not None:
        if asked == "complete":
            pages = [_Page(headers, dict(query)) for headers, query in queries]
        for page in pages:
            page.poll(connection)
        pipe.send(sum(page.size for page in pages) // len(pages))
    connection.close()


class _Browsers:
    """Pages in another process.

    :param who: headers of the pages, which say who looks
    """

    def __init__(self, url: str, who: list[dict[str, str]], now: int) -> None:
        begin = now - now % _DAY
        asked = {"start": begin - _DAY, "end": begin + 7 * _DAY}
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_browse, args=(theirs, url, [(headers, asked) for headers in who]))
        self._process.start()

    def poll(self, what: str = "poll") -> tuple[float, int]:
        """Have every page poll once; return the seconds of the processor that this process took, and the mean size."""
        began = time.process_time()
        self._pipe.send(what)
        size = self._pipe.recv()
        return time.process_time() - began, size

    def close(self) -> None:
        self._pipe.send(None)
        self._process.join()


def _headers(role: str, project: str) -> dict[str, str]:
    named = {"X-User-Id": "user", "X-Project-Id": project, "X-Roles": role}
    return {**named, "X-Auth-Token": "any", "OpenStack-API-Version": "reservation latest"}


@contextmanager
def _service(url: str) -> Iterator[str]:
    """Serve a database; yield the URL of the service."""
    conf = configuration.load(
        [],
        {
            ("api", "auth_strategy"): "noauth",
            ("api", "port"): 0,
            ("database", "connection"): url,
        },
    )
    wiring.default_transport(conf, "fake://")
    engine, _, clock = wiring.for_api(conf)
    database = wiring.database(conf)
    server = rest.server(conf, rest.application(conf, engine, SqlReader(database, _SITE), clock))
    server.start()
    yield server.url
    server.stop()
    database.dispose()


def _measure(url: str, hosts: int, leases: int, pages: int) -> dict[str, str]:
    """Return what pages cost, by what they do."""
    database = open_database(url)
    migrate.upgrade(database)
    now = int(time.time())
    _fill(database, hosts, leases, now)
    found: dict[str, str] = {}
    who = {
        "operator": [_headers("admin", "operators")] * pages,
        "member": [_headers("member", f"project-{number % _PROJECTS}") for number in range(pages)],
    }
    with _service(url) as address:
        for name, headers in who.items():
            first = _Browsers(address, headers[:1], now)
            # What is loaded with the first request, whatever it is for.
            HTTPConnection(urlsplit(address).netloc).request("GET", "/v1")
            cold, size = first.poll("complete")
            warm, _ = first.poll("complete")
            _change(database, 1)
            changed, _ = first.poll("complete")
            first.close()
            found[f"{name}: first complete answer, s ({size / 1e6:.1f} MB)"] = f"{cold:.3f}"
            found[f"{name}: the same again, s"] = f"{warm:.3f}"
            found[f"{name}: the same after a change, s"] = f"{changed:.3f}"
            every = _Browsers(address, headers, now)
            every.poll("complete")
            every.poll()
            unchanged, _ = every.poll()
            _change(database, 2)
            after, _ = every.poll()
            every.close()
            found[f"{name}: poll without news, ms"] = f"{unchanged / pages * 1_000:.2f}"
            found[f"{name}: poll after a change, ms"] = f"{after / pages * 1_000:.2f}"
            found[f"{name}: {pages} pages, no changes, % of a core"] = f"{unchanged / _QUIET * 100:.1f}"
            found[f"{name}: {pages} pages, news at every poll, % of a core"] = f"{after / _NEWS * 100:.1f}"
    database.dispose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calendar_page", description=__doc__)
    parser.add_argument("--hosts", type=int, default=500, help="default: 500")
    parser.add_argument("--leases", type=int, nargs="+", default=[2_000, 10_000], help="default: 2000 10000")
    parser.add_argument("--pages", type=int, default=200, help="default: 200")
    parser.add_argument(
        "--databases", nargs="+", default=["sqlite", "mariadb", "postgresql"], help="default: all three"
    )
    given = parser.parse_args()
    out = console()
    for leases in given.leases:
        measured = {}
        for name in given.databases:
            with tempfile.TemporaryDirectory() as folder:
                if name == "sqlite":
                    measured[name] = _measure(f"sqlite:///{folder}/site.sqlite", given.hosts, leases, given.pages)
                    continue
                server: MariaDB | PostgreSQL = MariaDB(Path(folder)) if name == "mariadb" else PostgreSQL(Path(folder))
                server.start()
                try:
                    url = server.create_database("site")
                    measured[name] = _measure(url, given.hosts, leases, given.pages)
                finally:
                    server.kill()
        table = Table("what", *measured, title=f"{given.hosts:,} hosts, {leases:,} leases")
        for what in next(iter(measured.values())):
            table.add_row(what, *(of_database[what] for of_database in measured.values()))
        out.print(table)


if __name__ == "__main__":
    main()
