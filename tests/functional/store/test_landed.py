"""What an earlier version has left is upgraded, and the service goes on with it."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import requests

from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from tests.servers.reservation import ReservationService

#: Made by tools/landed_database.py with the version that was landed last.
_LANDED = Path(__file__).parent / "landed"
_HEADERS = {"OpenStack-API-Version": "reservation latest", "X-Project-Id": "physics", "X-Roles": "admin,member,reader"}


def _restore(folder: Path) -> Path:
    """Write the databases of the earlier version into the folder of a service, and return that of the leases."""
    folder.mkdir(parents=True)
    files = {"service": folder / "lease-scheduler.sqlite", "cloud": folder / "simulated-cloud.sqlite"}
    for name, file in files.items():
        with sqlite3.connect(file) as connection:
            connection.executescript((_LANDED / f"{name}.sql").read_text())
        connection.close()
    return files["service"]


def _left_at(file: Path) -> int:
    """Return the second at which the earlier version stopped."""
    with sqlite3.connect(file) as connection:
        ((last,),) = connection.execute("SELECT clock FROM sites").fetchall()
    connection.close()
    return int(last)


def test_the_tables_of_the_earlier_version_become_ours(tmp_path: Path) -> None:
    file = _restore(tmp_path / "state")
    engine = open_database(f"sqlite:///{file}")
    migrate.upgrade(engine)
    assert migrate.current(engine) == migrate.newest()
    assert migrate.differences(engine) == []
    engine.dispose()


def test_the_service_goes_on_with_the_leases_of_the_earlier_version(tmp_path: Path) -> None:
    """With its clock where the earlier version stopped, so that the test is the same on every day."""
    file = _restore(tmp_path / "state" / "plain")
    clock = f"[simulated_cloud]\nhosts = 4\nclock_start = {_left_at(file)}\n"
    service = ReservationService(tmp_path, configuration=clock)
    service.start()
    try:
        listed = requests.get(f"{service.url}/v1/leases", headers=_HEADERS, timeout=60).json()["leases"]
        states = {lease["name"]: lease["state"] for lease in listed}
        assert states == {
            "now": "active",
            "course": "ready",
            "render": "active",
            "night": "active",
            "gone": "done",
            "held": "ready",
        }
        (course,) = [lease for lease in listed if lease["name"] == "course"]
        asked = {"name": "another", "nodes": [{"count": 2, "exclusive": True}]}
        dates = {"start_date": course["start_date"], "end_date": course["end_date"]}
        refused = requests.post(f"{service.url}/v1/leases", json=asked | dates, headers=_HEADERS, timeout=60)
        assert refused.status_code == 409, "one host has an active lease, two are still those of the reservation"
        asked["nodes"] = [{"count": 1, "exclusive": True}]
        granted = requests.post(f"{service.url}/v1/leases", json=asked | dates, headers=_HEADERS, timeout=60)
        assert granted.status_code == 201, granted.text
        assert not re.search(r" (ERROR|CRITICAL) ", service.log.read_text())
    finally:
        service.kill()
