"""The engine is killed at every boundary while a host falls asleep and wakes; its successor does what is missing."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.functional.crash.conftest import Run, seen_in

_SIDE_BY_SIDE = 8
_SPEED = 10.0


def _check(seen: dict[str, Any], *, killed: bool) -> None:
    assert not seen["broken"]
    assert seen["closed"] == []
    assert not seen["wronged"], "a host was switched off that was open, or had servers"
    for host in seen["hosts"].values():
        assert host["is_on"]
        assert host["power"] == "awake"
        assert killed or host["slept"] > 0
    for lease in seen["leases"]:
        if not killed:
            assert lease["state"] == "done"
            assert lease["breaches"] == []
        elif lease is not None:
            # What could not be kept because no engine ran is told.
            assert lease["state"] == "done" or lease["reason"]


def test_a_host_sleeps_and_wakes_without_a_crash(run: Run, tmp_path: Path) -> None:
    assert run(tmp_path, 0, _SPEED, scenario="power") == 0
    seen = seen_in(tmp_path)
    _check(seen, killed=False)
    assert len(seen["hosts"]) == len(seen["leases"]) == 1


def test_hosts_of_two_pools_sleep_and_wake_without_a_crash(run: Run, tmp_path: Path) -> None:
    assert run(tmp_path, 0, _SPEED, scenario="power", pools=True) == 0
    seen = seen_in(tmp_path)
    _check(seen, killed=False)
    assert {name: host["pool"] for name, host in seen["hosts"].items()} == {"compute-2": "main", "side-1": "side"}
    assert [lease["pool"] for lease in seen["leases"]] == ["main", "side"]


@pytest.mark.parametrize("pools", [False, True])
def test_killed_at_every_boundary_of_hosts_that_sleep(run: Run, tmp_path: Path, pools: bool) -> None:
    last = Event()

    def killed_at(kill_at: int) -> bool:
        """Return whether there are that many boundaries, so that the engine was killed."""
        if last.is_set():
            return False
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        if run(folder, kill_at, _SPEED, scenario="power", pools=pools) == 0:
            last.set()
            return False
        assert run(folder, 0, _SPEED, scenario="power", pools=pools) == 0, kill_at
        seen = seen_in(folder)
        try:
            _check(seen, killed=True)
        except AssertionError as error:
            raise AssertionError(f"killed at boundary {kill_at}: {error}; {json.dumps(seen, indent=1)}") from error
        return True

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        killed = sum(pool.map(killed_at, range(1, 200)))
    print(f"killed at {killed} boundaries")
    assert killed > (40 if pools else 25)
