"""The programs as processes over RabbitMQ and MariaDB: a lease from request to end, and what operators do."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.functional.commands.programs import path_of, run, write_configuration
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.keystone import Keystone
from tests.servers.preloaded import PreloadedProcess

_LIMIT = 90.0
_NODES = [{"count": 1, "resources": {"VCPU": 1}}]


class Site:
    """Programs with one configuration file.

    :ivar url: where the API listens
    """

    def __init__(self, folder: Path, database_url: str, transport_url: str, lines: str = "") -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.configuration = write_configuration(
            folder, database_url, transport_url, f"[api]\nport = {self.port}\n{lines}"
        )
        self._processes: list[OwnProcess] = []

    def manage(self, *words: str) -> str:
        """Run an operator's command, which must succeed, and return its output."""
        ended = run("manage", "--config-file", str(self.configuration), *words, folder=self.folder)
        assert ended.status == 0, ended.errors
        return ended.output

    def begin(self, name: str, *command: str, environment: dict[str, str] | None = None) -> OwnProcess:
        """Start a program with its output in a file of its name."""
        process = OwnProcess(name, command, self.folder / f"{name}.log", environment)
        self._processes.append(process)
        return process

    def begin_program(self, name: str) -> OwnProcess:
        """Start ``lease-scheduler-<name>``."""
        arguments = ["--config-file", str(self.configuration)]
        if name == "engine":
            # Its supervisor starts a process, which children of a fork server may not.
            return self.begin(name, path_of(name), *arguments)
        program, log = f"lease-scheduler-{name}", self.folder / f"{name}.log"
        process = PreloadedProcess(name, program, arguments, log)
        self._processes.append(process)
        return process

    def log(self, name: str) -> str:
        """Return a program's log."""
        return (self.folder / f"{name}.log").read_text()

    def is_healthy(self) -> bool:
        """Return whether the API answers."""
        try:
            return requests.get(f"{self.url}/healthcheck", timeout=5).ok
        except requests.RequestException:
            return False

    def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.kill()


@pytest.fixture
def site(tmp_path: Path, mariadb_url: str, rabbitmq_url: str) -> Iterator[Site]:
    """A site whose identity service is away."""
    nobody = f"http://127.0.0.1:{free_port()}/v3"
    credentials = f"auth_type = password\nauth_url = {nobody}\nusername = x\npassword = x\nproject_name = x\n"
    domains = "user_domain_id = default\nproject_domain_id = default\nhttp_request_max_retries = 0\n"
    made = Site(tmp_path, mariadb_url, rabbitmq_url, f"[keystone_authtoken]\n{credentials}{domains}")
    yield made
    made.close()


def test_pool_and_ends(site: Site) -> None:
    """The operator's commands reach the engine, and signals end both programs in order."""
    site.manage("db", "sync")
    engine, api = site.begin_program("engine"), site.begin_program("api")
    assert wait_until(lambda: "this engine leads" in site.log("engine"), _LIMIT), site.log("engine")
    assert site.manage("host", "add", "compute-1", "compute-2") == "2 hosts were added to the pool\n"
    assert site.manage("pool", "fill") == "2 hosts were added to the pool\n"
    assert site.manage("host", "remove", "compute-1") == "1 hosts were removed from the pool\n"
    refused = run("manage", "host", "add", "nobody", "--config-file", str(site.configuration), folder=site.folder)
    assert (refused.status, "nobody" in refused.errors) == (2, True)
    assert site.manage("reconcile").strip()
    assert wait_until(lambda: not api.is_running() or site.is_healthy(), _LIMIT)
    assert requests.get(f"{site.url}/v1/leases", timeout=10).status_code == 401
    assert requests.get(f"{site.url}/", headers={"Accept": "application/json"}, timeout=10).status_code == 300
    second = run("api", "--config-file", str(site.configuration), folder=site.folder)
    assert (second.status, f"{site.port} cannot be listened on" in second.errors) == (2, True)
    for process in (api, engine):
        process.end(signal.SIGTERM, 30)
        assert process.returncode == 0, site.log(process.name)


def test_metrics_of_both_programs(tmp_path: Path, mariadb_url: str, rabbitmq_url: str) -> None:
    """Each has a port of its own. A second engine runs without metrics rather than not at all."""
    nobody = f"http://127.0.0.1:{free_port()}/v3"
    engine_port, api_port = free_port(), free_port()
    lines = f"[metrics]\nenabled = true\nengine_port = {engine_port}\napi_port = {api_port}\n"
    lines += f"[keystone_authtoken]\nauth_type = password\nauth_url = {nobody}\nusername = x\npassword = x\n"
    site = Site(tmp_path, mariadb_url, rabbitmq_url, f"{lines}http_request_max_retries = 0\n")
    try:
        site.manage("db", "sync")
        engine, api = site.begin_program("engine"), site.begin_program("api")
        assert wait_until(lambda: "this engine leads" in site.log("engine"), _LIMIT), site.log("engine")
        site.manage("host", "add", "compute-1", "compute-2")
        assert wait_until(site.is_healthy, _LIMIT), site.log("api")
        assert requests.get(f"{site.url}/v1/leases", timeout=10).status_code == 401
        seen = _samples(engine_port)
        assert seen["lease_scheduler_engine_leading", ()] == 1
        assert seen["lease_scheduler_hosts", (("status", "in_service"),)] == 2
        labels = (("code", "401"), ("method", "GET"), ("route", "/v1/leases"))
        assert _samples(api_port)["lease_scheduler_http_request_duration_seconds_count", labels] == 1
        assert requests.get(f"{site.url}/metrics", timeout=10).status_code in (401, 404)
        second = site.begin("second", path_of("engine"), "--config-file", str(site.configuration))
        assert wait_until(lambda: "this engine serves no metrics" in site.log("second"), _LIMIT)
        for process in (second, api, engine):
            process.end(signal.SIGTERM, 30)
            assert process.returncode == 0, site.log(process.name)
    finally:
        site.close()


def _samples(port: int) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=10)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_a_lease_from_its_request_to_its_end(
    tmp_path: Path, keystone: Keystone, mariadb_url: str, rabbitmq_url: str
) -> None:
    """With the WSGI module under another server than our own."""
    keystone.ensure_running()
    service = keystone.user("reservation", keystone.project("service"), "service")
    member = keystone.user("member", keystone.project("physics"), "member")
    lines = keystone.middleware(service)
    site = Site(tmp_path, mariadb_url, rabbitmq_url, lines)
    entry = keystone.service("reservation", f"{site.url}/v1")
    try:
        site.manage("db", "sync")
        site.begin_program("engine")
        server = str(Path(sys.executable).with_name("waitress-serve"))
        listen = f"--listen=127.0.0.1:{site.port}"
        named = {"LEASE_SCHEDULER_CONFIG": str(site.configuration), "PATH": "/usr/bin:/bin"}
        site.begin("wsgi", server, listen, "lease_scheduler.cmd.wsgi:application", environment=named)
        assert wait_until(lambda: "this engine leads" in site.log("engine"), _LIMIT), site.log("engine")
        site.manage("pool", "fill")
        assert wait_until(site.is_healthy, _LIMIT), site.log("wsgi")
        headers = {"X-Auth-Token": keystone.token(member), "OpenStack-API-Version": "reservation 1.4"}

        def ask(method: str, path: str, body: Any = None) -> Any:
            answer = requests.request(method, f"{site.url}/v1/{path}", json=body, headers=headers, timeout=60)
            assert answer.ok, answer.text
            return answer.json() if answer.content else None

        asked = {"name": "short", "kind": "immediate", "duration": 5, "nodes": _NODES}
        lease = ask("POST", "leases", asked)["lease"]
        assert lease["project_id"] == member.project_id
        assert wait_until(lambda: ask("GET", f"leases/{lease['id']}")["lease"]["state"] == "done", _LIMIT)
        words = [row["to"] for row in ask("GET", f"leases/{lease['id']}/history")["history"]]
        assert [word for word in words if word in ("active", "done")] == ["active", "done"]
        ask("DELETE", f"leases/{lease['id']}")
        assert ask("GET", "leases")["leases"] == []
    finally:
        site.close()
        keystone.remove_service(entry)
