"""The driver ``redfish`` against the emulator of sushy-tools: TLS, passwords, and controllers that are away."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cloud.power.base import PowerDriverOptions, PowerError
from lease_scheduler.cloud.power.redfish import RedfishPower
from lease_scheduler.model.errors import InvalidValueError
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.conftest import make as make
from tests.functional.embedded.rest import Rest, date, until
from tests.servers.fixtures import running
from tests.servers.redfish import Redfish


@pytest.fixture(scope="module")
def redfish() -> Iterator[Redfish]:
    with running(lambda folder: Redfish(folder, ("host1", "host2", "compute-2"))) as server:
        yield server


def _driver(hosts: Path, cafile: Path | str = "", timeout: float = 20.0) -> RedfishPower:
    values: dict[str, Any] = {"redfish_hosts": str(hosts), "redfish_cafile": str(cafile), "driver_timeout": timeout}
    return RedfishPower(PowerDriverOptions(values))


def test_hosts_are_switched(redfish: Redfish, tmp_path: Path) -> None:
    driver = _driver(redfish.hosts_file(tmp_path / "hosts"), redfish.certificate)
    assert driver.is_on("host1") is True
    driver.turn_off("host1")
    until(lambda: driver.is_on("host1") is False)
    assert driver.is_on("host2") is True
    # Repeating a command does no harm.
    driver.turn_off("host1")
    driver.turn_on("host1")
    until(lambda: driver.is_on("host1"))
    driver.turn_on("host1")


def test_a_controller_that_is_not_trusted_gets_no_password(redfish: Redfish, tmp_path: Path) -> None:
    with pytest.raises(PowerError, match="(?i)certificate"):
        _driver(redfish.hosts_file(tmp_path / "hosts")).is_on("host1")


def test_a_wrong_password_is_an_error_without_the_password(redfish: Redfish, tmp_path: Path) -> None:
    driver = _driver(redfish.hosts_file(tmp_path / "hosts", password="mistaken"), redfish.certificate)
    with pytest.raises(PowerError, match="controller of host1") as error:
        driver.is_on("host1")
    assert "mistaken" not in str(error.value)


def test_a_host_that_is_added_to_the_file_is_found(redfish: Redfish, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    everything = redfish.hosts_file(path).read_text().splitlines(keepends=True)
    path.write_text(everything[0])
    driver = _driver(path, redfish.certificate)
    with pytest.raises(PowerError, match=f"host host2 is not in {path}"):
        driver.is_on("host2")
    path.write_text("".join(everything))
    assert driver.is_on("host2") is True


def test_a_controller_that_comes_back_answers_again(tmp_path: Path) -> None:
    with running(Redfish) as server:
        driver = _driver(server.hosts_file(tmp_path / "hosts"), server.certificate, timeout=2)
        assert driver.is_on("host1") is True
        server.kill()
        with pytest.raises(PowerError, match="controller of host1"):
            driver.is_on("host1")
        server.start()
        assert driver.is_on("host1") is True


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        ("host1: {address: 'https://a', user: u, password: p}", 0o644, "others may use it: chmod 600"),
        ("host1: {address: 'http://a', user: u, password: p}", 0o600, "must begin with https://"),
        ("host1: {address: 'https://a', user: u}", 0o600, "must have address, user and password"),
        ("host1: {address: 'https://a', user: u, password: p, port: '1'}", 0o600, "may have system"),
        ("host1: {address: 'https://a', user: u, password: 123}", 0o600, "put them in quotes"),
        ("- host1", 0o600, "must map names of hosts"),
        ("host1: {", 0o600, "is not YAML, see line 1$"),
        ("host1: {address: 'https://[a', user: u, password: p}", 0o600, "the address is not a URL"),
        ("host1: {address: 'https:a', user: u, password: p}", 0o600, "must begin with https:// and a host"),
        ("host1: {address: 'https://u:p@a', user: u, password: p}", 0o600, "must not have a user or a password"),
        (None, 0o600, "cannot be read: No such file"),
    ],
)
def test_a_wrong_file_is_refused_at_start(tmp_path: Path, text: str | None, mode: int, message: str) -> None:
    path = tmp_path / "hosts"
    if text is not None:
        path.write_text(text)
        path.chmod(mode)
    with pytest.raises(InvalidValueError, match=message):
        _driver(path)


@pytest.mark.parametrize("password", ["%s3cret", "*s3cret", "!s3cret x", "'s3cret", "s3cret: x", "s3cret\x01"])
def test_what_is_wrong_with_a_file_does_not_tell_its_passwords(tmp_path: Path, password: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"host1: {{address: 'https://a', user: u, password: {password}}}\n")
    path.chmod(0o600)
    with pytest.raises(InvalidValueError, match=f"{path} is not YAML") as error:
        _driver(path)
    said = "".join(traceback.format_exception(error.value))
    assert "s3cret" not in said


def test_a_missing_file_of_certificates_is_refused_at_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="redfish_cafile: there is no file /none"):
        _driver(tmp_path / "hosts", "/none")


def test_a_host_sleeps_and_wakes_for_a_lease(redfish: Redfish, make: Make, tmp_path: Path) -> None:
    """The whole service, and a machine that takes up to eleven seconds to switch."""
    settings = f"""
[simulated_cloud]
hosts = 2
[power]
driver = redfish
redfish_hosts = {redfish.hosts_file(tmp_path / "hosts")}
redfish_cafile = {redfish.certificate}
wake_time = 20
wake_margin = 10
shutdown_time = 0
poll_interval = 0.5
"""
    service = make(configuration=settings)
    service.start()
    rest = Rest(service)
    rest.register(2)
    driver = _driver(tmp_path / "hosts", redfish.certificate)
    rest.post("os-hosts/2/action", {"sleep": {}})
    until(lambda: rest.get("os-hosts/2")["host"]["power_state"] == "asleep")
    assert driver.is_on("compute-2") is False
    start = rest.now() + 35
    lease = rest.lease("later", "reservation", count=2, start_date=date(start), end_date=date(start + 900))
    until(lambda: rest.get("os-hosts/2")["host"]["power_state"] == "awake")
    assert rest.now() < start
    assert driver.is_on("compute-2") is True
    until(lambda: rest.state(lease) == "active")
    assert rest.get(f"leases/{lease['id']}")["lease"]["breaches"] == []
