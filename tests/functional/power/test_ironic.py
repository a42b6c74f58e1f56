"""The driver ``ironic`` against a real Ironic with fake hardware: power, maintenance, passwords, and its absence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lease_scheduler.cloud.power.base import PowerError
from lease_scheduler.cloud.power.ironic import IronicPower
from lease_scheduler.cmd.configuration import load
from lease_scheduler.cmd.power import power_driver
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.conftest import make as make
from tests.functional.embedded.rest import Rest, date, until
from tests.servers.base import MissingServerError
from tests.servers.fixtures import missing, running
from tests.servers.openstack import ironic as real
from tests.servers.openstack.ironic import PASSWORD, USER, Ironic

pytestmark = [
    pytest.mark.slow,
    # The SDK warns of itself.
    pytest.mark.filterwarnings("ignore::openstack.warnings.RemovedInSDK50Warning"),
]


@pytest.fixture(scope="module")
def ironic(request: pytest.FixtureRequest) -> Iterator[Ironic]:
    """Ironic with two nodes; the second has another name than its host."""
    try:
        python = real.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))
    with running(lambda folder: Ironic(folder, python)) as started:
        for name in ("compute-1", "rack7-unit2"):
            started.ask("POST", "nodes", {"name": name, "driver": "fake-hardware"})
            started.ask("PUT", f"nodes/{name}/states/power", {"target": "power on"})
            until(lambda name=name: started.ask("GET", f"nodes/{name}")["power_state"] == "power on")  # type: ignore[misc]
        yield started


def _lines(ironic: Ironic, password: str = PASSWORD, more: str = "") -> str:
    return (
        "[power]\ndriver = ironic\nironic_nodes = compute-2:rack7-unit2\nauth_type = http_basic\n"
        f"endpoint = {ironic.url}\nusername = {USER}\npassword = {password}\n{more}"
    )


def _driver(ironic: Ironic, tmp_path: Path, password: str = PASSWORD, more: str = "") -> IronicPower:
    path = tmp_path / "service.conf"
    path.write_text(_lines(ironic, password, more))
    driver = power_driver(load(["--config-file", str(path)]))
    assert isinstance(driver, IronicPower)
    return driver


def test_hosts_are_switched(ironic: Ironic, tmp_path: Path) -> None:
    driver = _driver(ironic, tmp_path)
    assert driver.is_on("compute-2") is True
    driver.turn_off("compute-2")
    # Repeating a command does no harm, even while the first one is carried out.
    driver.turn_off("compute-2")
    until(lambda: driver.is_on("compute-2") is False)
    assert ironic.ask("GET", "nodes/rack7-unit2")["power_state"] == "power off"
    assert driver.is_on("compute-1") is True
    driver.turn_on("compute-2")
    driver.turn_on("compute-2")
    until(lambda: driver.is_on("compute-2") is True)


def test_a_node_in_maintenance_is_left_alone(ironic: Ironic, tmp_path: Path) -> None:
    """Ironic itself would switch it."""
    driver = _driver(ironic, tmp_path)
    ironic.ask("PUT", "nodes/compute-1/maintenance", {"reason": "a disk fails"})
    try:
        for switch in (driver.turn_off, driver.turn_on):
            with pytest.raises(PowerError, match="node compute-1 is in maintenance"):
                switch("compute-1")
        assert driver.is_on("compute-1") is True
    finally:
        ironic.ask("DELETE", "nodes/compute-1/maintenance")


def test_a_host_that_ironic_does_not_know(ironic: Ironic, tmp_path: Path) -> None:
    with pytest.raises(PowerError, match="there is no node compute-9 in Ironic for host compute-9; see"):
        _driver(ironic, tmp_path).is_on("compute-9")


def test_a_wrong_password_is_an_error_without_the_password(ironic: Ironic, tmp_path: Path) -> None:
    with pytest.raises(
        PowerError, match="Ironic, node compute-1 of host compute-1: .*Incorrect username or password"
    ) as error:
        _driver(ironic, tmp_path, password="mistaken").is_on("compute-1")
    assert "mistaken" not in str(error.value)


def test_an_ironic_that_is_away_and_comes_back(ironic: Ironic, tmp_path: Path) -> None:
    driver = _driver(ironic, tmp_path, more="driver_timeout = 5\n")
    ironic.kill()
    with pytest.raises(PowerError, match="Ironic, node compute-1 of host compute-1"):
        driver.is_on("compute-1")
    ironic.start()
    assert driver.is_on("compute-1") is True


def test_a_host_sleeps_and_wakes_for_a_lease(ironic: Ironic, make: Make) -> None:
    """Through the whole service; the hosts are simulated, their power is Ironic's."""
    times = "wake_time = 200\nwake_margin = 200\nshutdown_time = 10\npoll_interval = 0.1\n"
    service = make(configuration=f"[simulated_cloud]\nhosts = 2\nclock_speed = 10\n{_lines(ironic, more=times)}")
    service.start()
    rest = Rest(service)
    rest.register(2)
    number = next(host["id"] for host in rest.get("os-hosts")["hosts"] if host["hypervisor_hostname"] == "compute-2")
    rest.post(f"os-hosts/{number}/action", {"sleep": {}})

    def power() -> str:
        return str(ironic.ask("GET", "nodes/rack7-unit2")["power_state"])

    until(lambda: rest.get(f"os-hosts/{number}")["host"]["power_state"] == "asleep")
    assert power() == "power off"
    start = rest.now() + 600
    lease = rest.lease("both", "reservation", count=2, start_date=date(start), end_date=date(start + 900))
    until(lambda: rest.state(lease) == "active")
    assert power() == "power on"
    assert rest.get(f"leases/{lease['id']}")["lease"]["breaches"] == []
