"""The installation page leads to a service on a real cloud, at the address that the catalogue has."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from keystoneauth1 import loading

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.wiring import check_engine
from tests.compat.printed import ROOT, blocks

_PAGE = "admin/installation.rst"
_TEXT = (ROOT / "doc" / "source" / _PAGE).read_text()


def _sample() -> str:
    """Return the configuration file that the page prints."""
    (found,) = re.findall(r"^\.\. code-block:: ini\n\n((?:   .*\n|\n)+)", _TEXT, re.MULTILINE)
    return re.sub(r"^   ", "", found, flags=re.MULTILINE)


def _commands() -> list[str]:
    return [command for block in blocks() if block.page == _PAGE for command in block.commands]


def test_the_printed_configuration_is_that_of_a_real_cloud(tmp_path: Path) -> None:
    file = tmp_path / "lease-scheduler.conf"
    file.write_text(_sample())
    conf = configuration.load(["--config-file", str(file)])
    check_engine(conf)
    assert configured_cloud(conf).simulated is None
    for group in ("keystone_authtoken", "nova"):
        loading.register_auth_conf_options(conf, group)
        assert loading.load_auth_from_conf_options(conf, group) is not None


def test_the_endpoint_is_where_the_service_listens(tmp_path: Path) -> None:
    """The service itself speaks HTTP."""
    file = tmp_path / "lease-scheduler.conf"
    file.write_text(_sample())
    conf = configuration.load(["--config-file", str(file)])
    endpoints = [command.split()[-1] for command in _commands() if "endpoint create" in command]
    assert endpoints
    for endpoint in map(urlsplit, endpoints):
        assert (endpoint.scheme, endpoint.hostname, endpoint.port) == ("http", conf.api.host, conf.api.port)
        assert endpoint.path == "/v1"


def test_the_steps_are_in_their_order() -> None:
    steps = ["pip wheel", "pip install", "openstack user create", "db sync", "upgrade check", "lease-scheduler-engine"]
    commands = _commands()
    places = [next(number for number, each in enumerate(commands) if step in each) for step in steps]
    assert places == sorted(places)
