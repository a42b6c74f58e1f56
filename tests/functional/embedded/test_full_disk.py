"""A full disk is reported in one line, and requests fail only while it is full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.functional.embedded.rest import Rest
from tests.servers.base import wait_until
from tests.servers.reservation import ReservationService

_LIMIT = 60.0
_NODES = [{"count": 1, "resources": {"VCPU": 1}}]
_LEASE = {"name": "x" * 255, "kind": "immediate", "duration": "1h", "nodes": _NODES, "extras": {"a": "x" * 1_000}}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 12 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk(tmp_path: Path, disk: Path) -> None:
    (tmp_path / "state").symlink_to(disk)
    service = ReservationService(tmp_path, configuration="[simulated_cloud]\nhosts = 4\n")
    try:
        service.start()
        rest = Rest(service)
        rest.register(4)
        ballast = disk / "ballast"
        _fill(ballast)

        def create() -> requests.Response:
            return rest.ask("POST", "leases", _LEASE)

        def is_full() -> bool:
            answer = create()
            return answer.status_code == 503 and "disk of the database is full" in answer.json()["error_message"]

        assert wait_until(is_full, _LIMIT), service.log.read_text()[-3_000:]
        # From then on, requests do not wait for the missing engine.
        assert all(is_full() or create().status_code == 503 for _ in range(5))
        health = requests.get(f"{service.url}/healthcheck", timeout=20).json()
        assert health["status"] == "degraded"
        assert "full" in health["parts"]["engine"].get("reason", "full")
        ballast.unlink()
        assert wait_until(lambda: create().status_code == 201, _LIMIT), service.log.read_text()[-3_000:]
        log = service.log.read_text()
        assert "the disk of the database is full" in log
        assert log.count("Traceback") <= 2, log
    finally:
        service.kill()


def _fill(path: Path) -> None:
    """Fill the disk."""
    with path.open("wb") as file:
        for size in (65_536, 512, 1):
            try:
                while True:
                    os.write(file.fileno(), b"x" * size)
            except OSError:
                continue
