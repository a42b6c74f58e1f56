"""Make the database from which the tests upgrade: run it with the program that is landed or released.

``python -m tools.landed_database FOLDER`` writes ``service.sql`` and ``cloud.sql``: a service with a lease of each
kind, in several states, and its simulated cloud.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import requests

from tests.servers.reservation import ReservationService

_HEADERS = {"OpenStack-API-Version": "reservation latest", "X-Project-Id": "physics", "X-Roles": "admin,member,reader"}
_NODES = [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 1}}]


def _bodies() -> list[tuple[str, dict[str, object]]]:
    """Return the requests, as paths and bodies."""
    start = (datetime.now(UTC) + timedelta(days=20)).replace(hour=8, minute=0, second=0, microsecond=0)

    def at(hours: int) -> str:
        return (start + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")

    exclusive = [{"count": 2, "exclusive": True}]
    held = {"start_date": at(24), "end_date": at(26), "nodes": _NODES, "hold": True}
    return [
        ("leases", {"name": "now", "kind": "immediate", "duration": "30d", "nodes": _NODES}),
        ("leases", {"name": "course", "start_date": at(0), "end_date": at(10), "nodes": exclusive}),
        ("leases", {"name": "render", "kind": "deadline", "duration": "6h", "deadline": at(100), "nodes": _NODES}),
        ("leases", {"name": "night", "kind": "best-effort", "duration": "2d", "nodes": _NODES}),
        ("leases", {"name": "gone", "kind": "best-effort", "duration": "2h", "nodes": _NODES}),
        ("quotes", {"name": "held", "kind": "reservation", **held}),
        ("feeds", {"name": "wall"}),
    ]


def main() -> None:
    """Write both files into the folder that the command line names."""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        service = ReservationService(Path(folder), ["--fill-pool"], configuration="[simulated_cloud]\nhosts = 4\n")
        service.start()
        for path, body in _bodies():
            requests.post(f"{service.url}/v1/{path}", json=body, headers=_HEADERS, timeout=60).raise_for_status()
        listed = requests.get(f"{service.url}/v1/leases", headers=_HEADERS, timeout=60).json()["leases"]
        (gone,) = [lease["id"] for lease in listed if lease["name"] == "gone"]
        ending = {"end": {}}
        requests.post(
            f"{service.url}/v1/leases/{gone}/action", json=ending, headers=_HEADERS, timeout=60
        ).raise_for_status()
        # What is due is written within a second or two.
        time.sleep(5)
        service.interrupt()
        for name, database in (("service", "lease-scheduler.sqlite"), ("cloud", "simulated-cloud.sqlite")):
            with sqlite3.connect(Path(folder) / "state" / "plain" / database) as connection:
                (target / f"{name}.sql").write_text("\n".join(connection.iterdump()) + "\n")


if __name__ == "__main__":
    main()
