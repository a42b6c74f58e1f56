"""The program of a gateway as a process."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import requests

from tests.functional.embedded.rest import HEADERS
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.preloaded import run_preloaded

#: Seconds that a program may take.
SECONDS = 180.0

_CONFIGURATION = """
[api]
auth_strategy = {auth}
port = {port}
[database]
connection = sqlite:///{database}
[gateway]
members = {members}
poll = 1
"""


def command_of(name: str) -> list[str]:
    """Return the command line of a program by the name of its module."""
    return [sys.executable, "-c", f"from lease_scheduler.cmd.{name} import main; main()"]


class GatewayProcess:
    """``lease-scheduler-gateway`` over sites.

    :param folder: for its files
    :param clouds: entry in clouds.yaml of each site, by name
    :param lines: further lines of the configuration; by default, callers are not authenticated
    """

    def __init__(self, folder: Path, clouds: Mapping[str, Any], lines: str = "") -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        entries = {f"cloud-{name}": entry for name, entry in clouds.items()}
        (folder / "clouds.yaml").write_text(json.dumps({"clouds": entries}))
        self.configuration = folder / "gateway.conf"
        self.configuration.write_text(
            _CONFIGURATION.format(
                port=self.port,
                database=folder / "gateway.sqlite",
                members=", ".join(f"{name}:cloud-{name}" for name in clouds),
                auth="keystone" if lines else "noauth",
            )
            + lines
        )
        self.environment = os.environ | {"OS_CLIENT_CONFIG_FILE": str(folder / "clouds.yaml")}
        self._process: OwnProcess | None = None

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``lease-scheduler-manage``."""
        return run_preloaded(
            "lease-scheduler-manage",
            "--config-file",
            str(self.configuration),
            *words,
            folder=self.folder,
            limit=SECONDS,
            environment=self.environment,
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [*command_of("gateway"), "--config-file", str(self.configuration)]
        self._process = OwnProcess("gateway", command, self.folder / "gateway.log", self.environment)
        wait_until(self._is_healthy, SECONDS)

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthcheck", timeout=5) as answer:
                return int(answer.status) == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def forget_grant(self, lease_id: str) -> None:
        """Close all attempts at a lease in the database, as if its members had given it back. It must not run."""
        with closing(sqlite3.connect(self.folder / "gateway.sqlite")) as database, database:
            (text,) = database.execute("SELECT record FROM federated_leases WHERE id = ?", (lease_id,)).fetchone()
            record = json.loads(text)
            record |= {"final": "ended", "attempts": [{**each, "state": "closed"} for each in record["attempts"]]}
            values = json.dumps(record), record["final"], lease_id
            database.execute("UPDATE federated_leases SET record = ?, stage = ?, due_at = NULL WHERE id = ?", values)

    def due(self) -> list[str]:
        """Return the ids of leases for which there is something to do, now or later."""
        with closing(sqlite3.connect(self.folder / "gateway.sqlite")) as database:
            return [row[0] for row in database.execute("SELECT id FROM federated_leases WHERE due_at IS NOT NULL")]

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()

    def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, token: str | None = None
    ) -> requests.Response:
        """Send a request.

        :param token: of the caller; None without authentication
        """
        headers = HEADERS if token is None else {**HEADERS, "X-Auth-Token": token}
        return requests.request(method, f"{self.url}/v1/{path}", json=body, headers=headers, timeout=SECONDS)


def open_cloud(url: str) -> dict[str, Any]:
    """Return the entry in clouds.yaml of a site that authenticates nobody."""
    auth = {"endpoint": f"{url}/v1", "token": "anything"}
    return {"auth_type": "admin_token", "auth": auth, "reservation_endpoint_override": f"{url}/v1"}
