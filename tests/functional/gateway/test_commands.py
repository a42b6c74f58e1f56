"""The commands and the SDK over a gateway, also as the page for tenants prints them."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import openstack
import pytest
from werkzeug.serving import BaseWSGIServer, make_server

from lease_scheduler.sdk import resources
from lease_scheduler.sdk.proxy import Proxy
from tests.compat.inside import InsideShell
from tests.compat.printed import blocks
from tests.compat.shell import TOKEN
from tests.functional.gateway.test_requests import Front, lease
from tests.functional.gateway.world import NAMES, World
from tests.servers.reservation import ReservationService

_PAGE = "user/sites.rst"


class Served:
    """The REST interface of a gateway, on a free loopback port.

    The sites are simulated in the process, so requests are answered one after the other.
    """

    def __init__(self, front: Front) -> None:
        self.front = front
        self._server: BaseWSGIServer = make_server("127.0.0.1", 0, front.app, threaded=False)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    world = World(tmp_path / "world")
    found = Served(Front(world))
    yield found
    found.stop()
    world.close()


@pytest.fixture
def shell(served: Served) -> InsideShell:
    return InsideShell(cast("ReservationService", served))


def _rows(shell: InsideShell, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shell.openstack("lease", *words, "-f", "json").document
    return found


def test_the_commands_of_the_page_for_tenants(shell: InsideShell) -> None:
    commands = [command for block in blocks() if block.page == _PAGE for command in block.commands]
    assert len(commands) == 8
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "openstack"
        outcome = shell.openstack(*words)
        assert (outcome.status, outcome.errors) == (0, ""), f"{command}: {outcome.errors}"
    assert [row["Name"] for row in _rows(shell, "list", "--site", "south")] == ["seminar"]


def test_a_site_that_is_away_is_told(served: Served, shell: InsideShell) -> None:
    front = served.front
    front.created(site="west")
    front.world.moody["west"].is_away = True
    front.world.pass_time([front.gateway], 60)
    rows = {row["Name"]: row for row in _rows(shell, "site", "list")}
    assert list(rows) == list(NAMES)
    assert rows["north"]["State"] == "answering"
    assert rows["west"]["State"] != "answering"
    assert rows["west"]["Unreachable Since"]
    assert rows["west"]["Leases"] == 1


def test_an_unknown_site_is_refused_in_one_line_that_names_all(shell: InsideShell) -> None:
    words = ("--kind", "immediate", "--nodes", "vcpus=1", "--duration", "1h")
    outcome = shell.openstack("lease", "create", "seminar", *words, "--site", "east")
    assert outcome.status == 1
    assert outcome.errors == "site: there is no site east; the sites are: north, south, west (HTTP 400)\n"


# The SDK warns about its own parts, which have nothing to do with us.
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_programs_choose_sites_with_the_sdk(served: Served) -> None:
    endpoint = f"{served.url}/v1"
    connection = openstack.connect(
        load_yaml_config=False,
        load_envvars=False,
        reservation_endpoint_override=endpoint,
        auth_type="admin_token",
        auth={"endpoint": endpoint, "token": TOKEN},
    )
    proxy = Proxy(connection.session, service_type="reservation", endpoint_override=endpoint)
    assert [each.name for each in proxy.sites()] == list(NAMES)
    made = proxy.create_lease(**lease(site="south"))
    assert made.site == "south"
    assert [each.id for each in proxy.leases(site="south")] == [made.id]
    assert list(proxy.leases(site="north")) == []
    shown = proxy.get_site("south")
    assert isinstance(shown, resources.Site)
    assert (shown.leases, shown.state) == (1, "answering")
