"""Image and compose file name programs, options and services that exist; ``tests/functional/container`` runs them."""

from __future__ import annotations

import re
import shlex
from configparser import ConfigParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.manage import main as manage
from lease_scheduler.cmd.wiring import check_engine

_ROOT = Path(__file__).parents[3]
_FOLDER = _ROOT / "container"


def _services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((_FOLDER / "compose.yaml").read_text())["services"]
    return found


def _commands() -> dict[str, list[list[str]]]:
    """Return the programs that our services run one after the other, with their arguments."""
    found = {}
    for name, service in _services().items():
        if service["image"] == "lease-scheduler":
            shell, option, line = service["command"]
            assert (shell, option) == ("sh", "-c")
            found[name] = [shlex.split(each) for each in line.split("&&")]
    return found


def _programs() -> set[str]:
    setup = ConfigParser()
    setup.read(_ROOT / "setup.cfg")
    return {line.partition("=")[0].strip() for line in setup["entry_points"]["console_scripts"].splitlines()} - {""}


def test_every_program_of_the_containers_is_ours() -> None:
    named = {word for command in _commands().values() for words in command for word in words if "-" in word}
    (default,) = re.findall(r'^CMD \["([a-z-]+)"\]', (_FOLDER / "Containerfile").read_text(), re.MULTILINE)
    assert named == {"lease-scheduler-api", "lease-scheduler-engine", "lease-scheduler-manage"}
    assert named | {default} <= _programs()


def test_the_image_is_built_once_and_not_looked_for_in_a_registry() -> None:
    ours = [service for service in _services().values() if service["image"] == "lease-scheduler"]
    assert ["build" in service for service in ours] == [True, False]
    assert [service.get("pull_policy") for service in ours] == [None, "never"]


def test_the_image_is_made_of_the_package_alone() -> None:
    """Whatever else lies in a checkout, such as configurations with passwords, is not copied."""
    lines = (_FOLDER / "Containerfile").read_text().splitlines()
    copied = [word for line in lines if re.match("COPY (?!--from)", line) for word in line.split()[1:-1]]
    allowed = "setup.py setup.cfg pyproject.toml MANIFEST.in README.md LICENSE NOTICE requirements.txt lease_scheduler"
    assert set(copied) == set(allowed.split())
    assert all((_ROOT / name).exists() for name in copied)


@pytest.mark.parametrize("service", ["engine", "api"])
def test_tables_are_made_before_by_a_command_that_there_is(service: str, capsys: pytest.CaptureFixture[str]) -> None:
    (program, *words), then = _commands()[service]
    assert (program, then) == ("lease-scheduler-manage", ["exec", f"lease-scheduler-{service}"])
    with pytest.raises(SystemExit) as ended:
        manage([*words, "--help"])
    assert ended.value.code == 0
    assert "usage: lease-scheduler-manage db sync" in capsys.readouterr().out


def test_what_is_restarted_depends_on_nothing_that_ends() -> None:
    """Podman 4.3 does not restart a container if one that it depends on has ended."""
    for service in _services().values():
        conditions = {each["condition"] for each in service.get("depends_on", {}).values()}
        assert conditions <= {"service_healthy"}


def test_the_configuration_is_accepted_and_names_the_services_of_the_compose_file() -> None:
    conf = configuration.load(["--config-file", str(_FOLDER / "lease-scheduler.conf")])
    check_engine(conf)
    services = _services()
    written = ConfigParser(interpolation=None)
    written.read(_FOLDER / "lease-scheduler.conf")
    broker, database = urlsplit(written["DEFAULT"]["transport_url"]), urlsplit(conf.database.connection)
    assert {broker.hostname, database.hostname, urlsplit(conf.service.coordination_url).hostname} <= set(services)
    given = services["database"]["environment"]
    named = (given["MARIADB_USER"], given["MARIADB_PASSWORD"], f"/{given['MARIADB_DATABASE']}")
    assert (database.username, database.password, database.path) == named
    given = services["broker"]["environment"]
    assert (broker.username, broker.password) == (given["RABBITMQ_DEFAULT_USER"], given["RABBITMQ_DEFAULT_PASS"])


def test_the_published_port_is_that_of_the_api_and_only_on_loopback() -> None:
    conf = configuration.load(["--config-file", str(_FOLDER / "lease-scheduler.conf")])
    assert _services()["api"]["ports"] == [f"127.0.0.1:1234:{conf.api.port}"]
    assert f"EXPOSE {conf.api.port}" in (_FOLDER / "Containerfile").read_text()


def test_every_service_waits_for_one_that_there_is() -> None:
    services = _services()
    for service in services.values():
        for name, needed in service.get("depends_on", {}).items():
            assert name in services
            assert needed["condition"] != "service_healthy" or "healthcheck" in services[name]
