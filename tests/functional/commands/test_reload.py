"""SIGHUP: what may change is changed while the programs run, and what cannot change is reported."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import requests

from lease_scheduler.cmd import configuration, wiring
from lease_scheduler.rpc.client import RpcEngineClient
from tests.functional.commands.test_processes import Site
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.keystone import Keystone

_LIMIT = 120.0
_REQUEST: dict[str, Any] = {
    "name": "one",
    "kind": "immediate",
    "duration": "1h",
    "nodes": [{"count": 1, "resources": {"VCPU": 1}}],
}


class Reloaded:
    """A program whose configuration changes while it runs."""

    def __init__(self, site: Site, name: str) -> None:
        self.site = site
        self.process: OwnProcess = site.begin_program(name)
        self._first = site.configuration.read_text()

    def log(self) -> str:
        return self.site.log(self.process.name)

    def reload(self, lines: str, expected: str) -> str:
        """Write other lines after the initial ones and send SIGHUP; return the log from then on."""
        said = len(self.log())
        self.site.configuration.write_text(self._first + lines)
        os.kill(self.process.pid, signal.SIGHUP)
        assert wait_until(lambda: expected in self.log()[said:], _LIMIT), self.log()[said:]
        return self.log()[said:]


@pytest.fixture
def site(tmp_path: Path, mariadb_url: str, rabbitmq_url: str) -> Iterator[Site]:
    made = Site(tmp_path, mariadb_url, rabbitmq_url)
    yield made
    made.close()


def _lease(**terms: Any) -> dict[str, Any]:
    nodes = [{"count": 1, "resources": {"VCPU": 1}, "traits": [], "exclusive": False}]
    reservation = {"id": str(uuid4()), "resource_type": "nodes", "nodes": nodes}
    return {
        "id": str(uuid4()),
        "name": "one",
        "project_id": "physics",
        "user_id": "ada",
        "kind": "immediate",
        "start": None,
        "end": None,
        "duration": 3_600,
        "preemptible": False,
        "reservations": [reservation],
        **terms,
    }


@pytest.fixture
def client(site: Site) -> Iterator[RpcEngineClient]:
    made = wiring.engine_client(configuration.load(["--config-file", str(site.configuration)]))
    yield made
    made.close()


def test_policies_of_a_running_engine(site: Site, client: RpcEngineClient) -> None:
    """A new price, admission policy and limit take effect at once, in the same process; what was learnt is kept."""
    site.manage("db", "sync")
    engine = Reloaded(site, "engine")
    assert wait_until(lambda: "this engine leads" in engine.log(), _LIMIT), engine.log()
    site.manage("pool", "fill")
    context = {"user_id": "ada", "project_id": "physics"}

    def price(**terms: Any) -> Any:
        return client.quote_lease(context, _lease(**terms))["price"]

    assert price() is None
    engine.reload("[scheduling]\npolicy_pricing = constant\n[policy]\npricing_rate = 7\n", "was read again")
    assert price() == 7.0
    adaptive = "[scheduling]\npolicy_pricing = adaptive\n[policy]\npricing_rate = 4\n"
    engine.reload(adaptive, "was read again")
    assert price() == 4.0
    client.create_lease(context, _lease(max_price=100.0))
    learnt = price()
    assert learnt == 6.0
    engine.reload(adaptive + "pricing_up = 1.5\nadmission_maximum_nodes = 5\n", "was read again")
    assert price() == learnt
    engine.reload(adaptive + "pricing_up = 2\n", "was read again")
    assert price() == 8.0, "the new parameter, with what was learnt under the old one"

    limit = "[scheduling]\npolicy_admission = maximum-duration\n[policy]\nadmission_maximum_duration = 60\n"
    engine.reload(limit, "was read again")
    assert client.quote_lease(context, _lease())["granted"] is False

    said = engine.reload("[scheduling]\npolicy_admission = nobody-knows\n", "stays as it was")
    assert "ERROR" in said
    assert "nobody-knows" in said
    assert client.quote_lease(context, _lease())["granted"] is False, "the last good options hold"
    said = engine.reload("[scheduling]\npolicy_admision = accept-all\n", "stays as it was")
    assert "is policy_admission meant?" in said

    said = engine.reload("[engine]\nworkers = 7\n[service]\nquote_lifetime = 7\n", "was read again")
    assert re.search("WARNING .*need a restart: engine.workers", said), said
    assert client.quote_lease(context, _lease())["granted"] is True
    assert engine.log().count("this engine leads") == 1, "nobody has begun anew"
    assert "does not lead any more" not in engine.log()
    engine.process.end(signal.SIGTERM, 60)
    assert engine.process.returncode == 0


def test_settings_of_a_running_api(tmp_path: Path, keystone: Keystone, mariadb_url: str, rabbitmq_url: str) -> None:
    """Clients are told to retry later, and the log has more details, without a request lost."""
    keystone.ensure_running()
    service = keystone.user("reservation", keystone.project("service"), "service")
    member = keystone.user("member", keystone.project("physics"), "member")
    lines = f"{keystone.middleware(service)}[api]\n"
    site = Site(tmp_path, mariadb_url, rabbitmq_url, lines)
    try:
        site.manage("db", "sync")
        api = Reloaded(site, "api")
        assert wait_until(site.is_healthy, _LIMIT), api.log()
        headers = {"X-Auth-Token": keystone.token(member), "OpenStack-API-Version": "reservation 1.4"}

        def retry_after() -> str:
            """Return the Retry-After header of an answer without an engine."""
            answer = requests.post(f"{site.url}/v1/leases", json=_REQUEST, headers=headers, timeout=60)
            assert answer.status_code == 503, answer.text
            return answer.headers["Retry-After"]

        assert retry_after() == "5"
        api.reload("retry_after = 17\n", "was read again")
        assert retry_after() == "17"
        said = api.reload(f"retry_after = 0\nport = {free_port()}\n", "stays as it was")
        assert "retry_after" in said
        assert retry_after() == "17"
        said = api.reload("threads = 3\n[DEFAULT]\ndebug = true\n", "was read again")
        assert "need a restart: api.threads" in said
        assert retry_after() == "5"
        assert "DEFAULT.debug changed" in said
        api.process.end(signal.SIGTERM, 60)
        assert api.process.returncode == 0
    finally:
        site.close()
