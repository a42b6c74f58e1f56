"""A host of a real Nova sleeps, is no outage, and is awake again in time for a reservation that needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.exceptions import ClientException

from lease_scheduler.cloud.nova.api.host_services import ASLEEP
from tests.functional.lab.service import PREPARATION, Document, Service, host_of, in_epoch, in_seconds, running_service
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.lab import Lab

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: A host whose compute service can be killed alone.
_SLEEPER = "node4"

#: Seconds that a host may take to fall asleep or to wake.
_LIMIT = 240.0

#: Seconds, as configured: a lease can use a host that sleeps after so many.
_WAKE_TIME, _WAKE_MARGIN, _SHUTDOWN_TIME = 60, 60, 5

#: A node such that one is on each host of the lab.
_LARGE = {"VCPU": 8, "MEMORY_MB": 8_192, "DISK_GB": 1}

_SCRIPT = """#!/bin/sh
case $1 in
    status) cat "{folder}/is-$2" 2>/dev/null || echo on ;;
    *) echo "$1" > "{folder}/told-$2" ;;
esac
"""


class Machine:
    """The power of a host of the lab: its compute service runs while it is on.

    :param folder: for what the script is told and says
    """

    def __init__(self, folder: Path, lab: Lab) -> None:
        self._folder = folder
        self._computes = lab.computes_of(_SLEEPER)
        self._is_on = True
        self.script = folder / "switch"
        self.script.write_text(_SCRIPT.format(folder=folder))
        self.script.chmod(0o755)

    def obey(self) -> None:
        """Do what the script was told."""
        told = self._folder / f"told-{_SLEEPER}"
        wanted = not told.exists() or told.read_text().strip() != "off"
        if wanted is self._is_on:
            return
        if wanted:
            self._computes.start()
        else:
            self._computes.kill()
        self._is_on = wanted
        (self._folder / f"is-{_SLEEPER}").write_text("on" if wanted else "off")

    def waits(self, condition: Callable[[], bool], limit: float = _LIMIT) -> bool:
        """Do what the script is told until a condition is true, and return whether it came to be."""

        def is_so() -> bool:
            self.obey()
            return condition()

        return wait_until(is_so, limit)


@pytest.fixture
def machine(lab: Lab, tmp_path: Path) -> Iterator[Machine]:
    lab.ensure_running()
    yield Machine(tmp_path, lab)
    lab.ensure_running()
    (found,) = _services(lab)
    if found["status"] != "enabled":
        lab.admin.compute("PUT", f"/os-services/{found['id']}", {"status": "enabled"})


@pytest.fixture
def service(lab: Lab, machine: Machine) -> Iterator[Service]:
    """The service, which would soon take a host for dead whose compute service is silent."""
    power = {
        "driver": "script",
        "script": machine.script,
        "wake_time": _WAKE_TIME,
        "wake_margin": _WAKE_MARGIN,
        "shutdown_time": _SHUTDOWN_TIME,
        "poll_interval": 1,
    }
    with running_service(lab, settings={"power": power, "nova": {"down_grace": 5}}) as started:
        yield started


def _services(lab: Lab) -> list[Document]:
    found: list[Document] = lab.admin.compute("GET", f"/os-services?binary=nova-compute&host={_SLEEPER}")["services"]
    return found


def _host(service: Service) -> Document:
    hosts: list[Document] = service.ask(service.operator, "GET", "os-hosts").json()["hosts"]
    (found,) = [each for each in hosts if each["hypervisor_hostname"] == _SLEEPER]
    return found


def _act(service: Service, action: str) -> Any:
    return service.ask(service.operator, "POST", f"os-hosts/{_host(service)['id']}/action", {action: {}})


def _is(lab: Lab, **terms: str) -> bool:
    with suppress(ClientException):
        (found,) = _services(lab)
        return all(found[name] == value for name, value in terms.items())
    return False


def test_a_host_sleeps_and_wakes_in_time_for_a_reservation(
    service: Service, leases: list[Document], lab: Lab, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its servers are booted ahead of the start on all hosts, so the one that slept has to be awake by then."""
    assert _act(service, "sleep").ok
    assert machine.waits(lambda: _host(service)["power_state"] == "asleep"), service.said()
    assert _is(lab, status="disabled", disabled_reason=ASLEEP)
    # It is switched off, Nova misses it, and for the service that is no outage.
    assert machine.waits(lambda: _is(lab, state="down")), service.said()
    lead = _WAKE_TIME + _WAKE_MARGIN + PREPARATION
    start_date, start = in_seconds(lead + 25)
    lease = service.lease(
        service.ada,
        kind="reservation",
        start_date=start_date,
        end_date=in_seconds(lead + 25 + 600)[0],
        nodes=[{"count": len(LAB_HOSTS), "resources": _LARGE}],
        servers=[{**service.template(), "count": len(LAB_HOSTS)}],
    )
    leases.append(lease)
    assert _host(service)["power_state"] == "asleep"
    assert machine.waits(lambda: _host(service)["power_state"] == "waking"), service.said()
    woken = in_epoch(_host(service)["power_since"])
    assert machine.waits(lambda: _host(service)["power_state"] == "awake"), service.said()
    awake = in_epoch(_host(service)["power_since"])
    assert awake <= start
    assert _is(lab, status="enabled", state="up")
    service.becomes(lease, "active", _LIMIT)
    with capsys.disabled():
        late = service.became(lease, "active") - start
        print(f"\nwoken {start - woken:.0f} s and awake {start - awake:.0f} s before the start; {late=:.0f} s")
    assert service.show(lease)["breaches"] == []
    servers = service.servers(service.ada)
    assert {host_of(each) for each in servers} == {host.name for host in LAB_HOSTS}
    assert {each["status"] for each in servers} == {"ACTIVE"}
    assert _host(service)["energy_saved_wh"] > 0
    refused = _act(service, "sleep")
    assert refused.status_code == 409
    assert "held by a lease" in refused.json()["error_message"]


def test_a_host_with_a_stopped_server_of_no_lease_is_not_switched_off(
    service: Service, lab: Lab, machine: Machine
) -> None:
    server = service.admin.boot("of nobody", lab.flavors["small"], availability_zone=f"nova:{_SLEEPER}")
    try:
        assert service.settled([server]) == {server: "ACTIVE"}
        service.admin.compute("POST", f"/servers/{server}/action", {"os-stop": None})
        assert wait_until(lambda: service.admin.server(server)["status"] == "SHUTOFF", _LIMIT)
        assert _act(service, "sleep").ok
        assert not machine.waits(lambda: _host(service)["power_state"] != "falling-asleep", 10)
        assert _is(lab, status="enabled", state="up")
    finally:
        service.remove_servers([server])
    # Once the server is gone, nothing keeps the host awake.
    assert machine.waits(lambda: _host(service)["power_state"] == "asleep"), service.said()
    assert _act(service, "wake").ok
    assert machine.waits(lambda: _host(service)["power_state"] == "awake"), service.said()
    assert _is(lab, status="enabled", state="up")
