"""The engine is killed at every boundary while a host falls asleep and wakes; its successor does what is missing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from tests.functional.crash.conftest import Run, killed_at_each, seen_in

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


def test_killed_at_every_boundary_of_a_host_that_sleeps(run: Run, tmp_path: Path) -> None:
    check = partial(_check, killed=True)
    assert killed_at_each(run, tmp_path, range(1, 200), check, _SPEED, scenario="power") > 25


def test_killed_while_hosts_of_two_pools_sleep(run: Run, tmp_path: Path) -> None:
    """At some boundaries: the next engine restores the wishes of both pools."""
    check = partial(_check, killed=True)
    assert killed_at_each(run, tmp_path, range(2, 200, 4), check, _SPEED, scenario="power", pools=True) > 10


def test_a_host_wakes_for_a_fluid_lease_without_a_crash(run: Run, tmp_path: Path) -> None:
    """The other host has no room for it, so the algorithm leaves it waiting."""
    assert run(tmp_path, 0, _SPEED, scenario="power", fluid=True) == 0
    seen = seen_in(tmp_path)
    _check(seen, killed=False)
    (lease,) = seen["leases"]
    assert lease["started"] is not None


def test_killed_while_a_host_wakes_for_a_fluid_lease(run: Run, tmp_path: Path) -> None:
    """At some boundaries: the lease waits in the database, and the next engine has the host awake for it."""
    check = partial(_check, killed=True)
    assert killed_at_each(run, tmp_path, range(3, 200, 16), check, _SPEED, scenario="power", fluid=True) > 4
