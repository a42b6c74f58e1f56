"""Hosts that sleep, with a script that switches them: by command, in time for leases, by policy, across a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests

from tests.compat.inside import InsideShell
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, date, until
from tests.servers.reservation import ReservationService

_SCRIPT = """#!/bin/sh
state={folder}/power-$2
echo "$1 $2" >> {folder}/calls
case $1 in
    status) cat "$state" 2>/dev/null || echo on ;;
    on|off) echo "$1" > "$state" ;;
esac
"""
_SETTINGS = """
[simulated_cloud]
hosts = 2
clock_speed = 10
clock_start = 1800000000
[power]
driver = script
script = {script}
wake_time = 60
wake_margin = 60
shutdown_time = 10
minimum_on_time = 0
poll_interval = 0.1
watts_awake = 300
watts_asleep = 30
{more}
"""


def _service(make: Make, tmp_path: Path, more: str = "") -> ReservationService:
    script = tmp_path / "switch"
    script.write_text(_SCRIPT.format(folder=tmp_path))
    script.chmod(0o755)
    service = make(configuration=_SETTINGS.format(script=script, more=more))
    service.start()
    return service


def _hosts(rest: Rest) -> dict[str, Any]:
    return {host["hypervisor_hostname"]: host for host in rest.get("os-hosts")["hosts"]}


def _states(rest: Rest) -> list[str]:
    return [host["power_state"] for _, host in sorted(_hosts(rest).items())]


def _switch(tmp_path: Path, host: str) -> str:
    return (tmp_path / f"power-{host}").read_text().strip()


def test_a_host_sleeps_by_command_and_wakes_for_a_lease(make: Make, tmp_path: Path) -> None:
    service = _service(make, tmp_path)
    rest, shell = Rest(service), InsideShell(service)
    rest.register(2)
    shown = shell.openstack("lease", "host", "sleep", "compute-2", "-f", "json").document
    assert shown["power_state"] == "falling-asleep"
    until(lambda: _states(rest) == ["awake", "asleep"])
    assert _switch(tmp_path, "compute-2") == "off"

    refused = rest.ask(
        "POST",
        "leases",
        {
            "name": "at once",
            "kind": "reservation",
            "nodes": [{"count": 2, "resources": {"VCPU": 8}}],
            "start_date": "now",
            "end_date": date(rest.now() + 9_000),
        },
    )
    assert refused.status_code == 409
    assert "hosts sleep" in refused.json()["error_message"]
    assert any(each["change"] == "start" for each in refused.json()["alternatives"])
    metrics = requests.get(f"{service.url}/metrics", timeout=10).text
    assert "lease_scheduler_asleep_refusals_total 1.0" in metrics
    assert 'lease_scheduler_host_powers{state="asleep"} 1.0' in metrics

    start = rest.now() + 300
    lease = rest.lease("later", "reservation", count=2, start_date=date(start), end_date=date(start + 900))
    # What the plan knows of a host that sleeps outlives the process.
    service.kill()
    service.start()
    assert _states(rest)[0] == "awake"
    until(lambda: _states(rest) == ["awake", "awake"])
    assert rest.now() < start
    assert _switch(tmp_path, "compute-2") == "on"
    until(lambda: rest.state(lease) == "active")
    assert rest.get(f"leases/{lease['id']}")["lease"]["breaches"] == []

    host = _hosts(rest)["compute-2"]
    assert host["energy_saved_wh"] > 0
    listed = {
        each["Hypervisor Hostname"]: each for each in shell.openstack("lease", "host", "list", "-f", "json").document
    }
    assert listed["compute-2"]["Power State"] == "awake"
    assert float(listed["compute-2"]["Energy Saved Wh"]) == host["energy_saved_wh"]
    held = shell.openstack("lease", "host", "sleep", "compute-2")
    assert held.status != 0
    assert "host compute-2 cannot sleep: it is held by a lease now or soon" in held.errors


def test_idle_hosts_sleep_by_policy_and_an_operator_wakes_one(make: Make, tmp_path: Path) -> None:
    more = "sleep_horizon = 0\n[scheduling]\npolicy_power = gesp\n"
    service = _service(make, tmp_path, more)
    rest, shell = Rest(service), InsideShell(service)
    rest.register(2)
    until(lambda: _states(rest) == ["asleep", "asleep"])
    gone = rest.ask("DELETE", "os-hosts/1")
    assert gone.status_code == 409
    assert "wake it first" in gone.json()["error_message"]
    assert shell.openstack("lease", "host", "wake", "1").status == 0
    until(lambda: "on compute-1" in (tmp_path / "calls").read_text())


def test_each_pool_has_its_own_power_policy(make: Make, tmp_path: Path) -> None:
    more = (
        "sleep_horizon = 0\n[scheduling]\npolicy_power = none\n"
        "[pools]\nnames = general, gpu\n[pool:gpu]\nhosts = compute-2\npolicy_power = gesp\n"
    )
    service = _service(make, tmp_path, more)
    rest = Rest(service)
    rest.register(2)
    until(lambda: _states(rest) == ["awake", "asleep"])
    moved = rest.ask("PUT", "os-hosts/2", {"pool": "general"})
    assert (moved.status_code, moved.json()["error_message"]) == (409, "host compute-2 is asleep; wake it first")
    rest.post("os-hosts/1/action", {"sleep": {}})
    until(lambda: _states(rest) == ["asleep", "asleep"])
    metrics = requests.get(f"{service.url}/metrics", timeout=10).text
    for pool in ("general", "gpu"):
        assert f'lease_scheduler_host_powers{{pool="{pool}",state="asleep"}} 1.0' in metrics

    # Hosts wake for leases in both pools, also those of an engine that takes over.
    start = rest.now() + 300
    times = {"start_date": date(start), "end_date": date(start + 900)}
    leases = [rest.lease(pool, "reservation", pool=pool, **times) for pool in ("general", "gpu")]
    service.kill()
    service.start()
    until(lambda: _states(rest) == ["awake", "awake"])
    assert rest.now() < start
    for lease in leases:
        until(lambda lease=lease: rest.state(lease) == "active")  # type: ignore[misc]
        assert rest.get(f"leases/{lease['id']}")["lease"]["breaches"] == []


def test_a_host_whose_script_fails_does_not_keep_a_lease_waiting(make: Make, tmp_path: Path) -> None:
    """The lease starts with the host that is awake, says so, and gets the other one later."""
    service = _service(make, tmp_path)
    rest = Rest(service)
    rest.register(2)
    rest.post("os-hosts/2/action", {"sleep": {}})
    until(lambda: _states(rest) == ["awake", "asleep"])
    works = (tmp_path / "switch").read_text()
    (tmp_path / "switch").write_text("#!/bin/sh\necho no route to the controller >&2\nexit 1\n")
    start = rest.now() + 200
    lease = rest.lease("later", "reservation", count=2, start_date=date(start), end_date=date(start + 9_000))
    until(lambda: rest.state(lease) == "active")
    assert _states(rest) == ["awake", "failed"]
    until(lambda: rest.get(f"leases/{lease['id']}")["lease"]["degraded"])
    (tmp_path / "switch").write_text(works)
    until(lambda: _states(rest) == ["awake", "awake"])
    until(lambda: not rest.get(f"leases/{lease['id']}")["lease"]["degraded"])


@pytest.mark.parametrize("body", [{}, {"sleep": {}, "wake": {}}, {"sleep": {"now": True}}, {"nap": {}}])
def test_a_wrong_action_is_refused(make: Make, tmp_path: Path, body: dict[str, Any]) -> None:
    rest = Rest(_service(make, tmp_path))
    rest.register(1)
    assert rest.ask("POST", "os-hosts/1/action", body).status_code == 400
    assert rest.ask("POST", "os-hosts/7/action", {"sleep": {}}).status_code == 404
