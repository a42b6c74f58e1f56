"""What both services run on: MariaDB, RabbitMQ and the stand-in of the cloud."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.servers.base import OwnProcess, ServerError, free_port, log_end, wait_until
from tests.servers.mariadb import MariaDB
from tests.servers.rabbitmq import RabbitMQ

_READY_SECONDS = 120.0
_ROOT = Path(__file__).parents[2]

HEADERS = {"X-Auth-Token": "benchmark", "Accept": "application/json", "Content-Type": "application/json"}

#: Number of threads of the server that runs the REST interfaces of both services.
THREADS = 16


@dataclass(frozen=True)
class Surroundings:
    """The running servers of a cell.

    :ivar folder: for files of a service
    :ivar database: SQLAlchemy URL of an empty database
    :ivar broker: ``transport_url`` of an empty virtual host
    :ivar cloud: where the stand-in of the cloud listens
    """

    folder: Path
    database: str
    broker: str
    cloud: str
    rabbitmq: RabbitMQ
    virtual_host: str

    @property
    def token_options(self) -> str:
        """Return configuration lines that have tokens validated by the stand-in."""
        return (
            "[keystone_authtoken]\n"
            f"www_authenticate_uri = {self.cloud}/v3\n"
            f"auth_url = {self.cloud}/v3\n"
            "auth_type = password\nusername = user\npassword = secret\nproject_name = project\n"
            "user_domain_name = Default\nproject_domain_name = Default\n"
        )

    def calls(self) -> tuple[int, float]:
        """Return how often the stand-in was called, and how many seconds it worked."""
        with urllib.request.urlopen(f"{self.cloud}/calls", timeout=30) as answer:
            found = json.loads(answer.read())
        return int(found["calls"]), float(found["seconds"])

    def has_queue(self, name: str) -> bool:
        """Return whether the broker has a queue of this name."""
        return any(queue["name"] == name for queue in self.rabbitmq.manage("GET", f"queues/{self.virtual_host}"))


@contextmanager
def servers(folder: Path) -> Iterator[tuple[MariaDB, RabbitMQ]]:
    """Run MariaDB and RabbitMQ while the block runs."""
    made = []
    try:
        for kind in (MariaDB, RabbitMQ):
            own = folder / kind.name
            own.mkdir(parents=True)
            server = kind(own)
            made.append(server)
            server.start()
        database, broker = made
        assert isinstance(database, MariaDB)
        assert isinstance(broker, RabbitMQ)
        yield database, broker
    finally:
        for server in made:
            server.kill()


@contextmanager
def surroundings(folder: Path, name: str, database: MariaDB, broker: RabbitMQ, hosts: int) -> Iterator[Surroundings]:
    """Provide an empty database, virtual host and cloud while the block runs.

    :param name: of database and virtual host
    :param hosts: of the cloud
    """
    folder.mkdir(parents=True)
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.service_against_blazar.stand_in", "--port", str(port)]
    # The process starts in the folder of its log, but its modules are found from the root of the repository.
    launcher = [sys.executable, "-c", f"import os, sys; os.chdir({str(_ROOT)!r}); os.execv(sys.argv[1], sys.argv[1:])"]
    cloud = OwnProcess("stand-in", [*launcher, *command, "--hosts", str(hosts)], folder / "stand-in.log")
    try:
        found = Surroundings(
            folder=folder,
            database=database.create_database(name),
            broker=broker.create_virtual_host(name),
            cloud=f"http://127.0.0.1:{port}",
            rabbitmq=broker,
            virtual_host=name,
        )
        wait_for(lambda: answers(f"{found.cloud}/v3"), cloud, folder / "stand-in.log")
        yield found
    finally:
        cloud.kill()
        database.drop_database(name)
        broker.drop_virtual_host(name)


def answers(url: str) -> bool:
    """Return whether an HTTP server answers there."""
    try:
        return requests.get(url, headers=HEADERS, timeout=10).status_code < 500
    except requests.RequestException:
        return False


def wait_for(ready: Any, process: OwnProcess, log: Path) -> None:
    """Wait until a process is ready.

    :raises ServerError: it ended, or was not ready in time
    """
    wait_until(lambda: not process.is_running() or ready(), _READY_SECONDS)
    if not process.is_running() or not ready():
        raise ServerError(f"{process.name} is not ready; the end of its log:\n{log_end(log)}")


def run(command: list[str], log: Path, environment: dict[str, str] | None = None) -> None:
    """Run a program to completion.

    :raises ServerError: it failed
    """
    process = OwnProcess(Path(command[0]).name, command, log, environment)
    wait_until(lambda: not process.is_running(), 1_800)
    if process.returncode != 0:
        process.kill()
        raise ServerError(f"{process.name} failed; the end of its log:\n{log_end(log)}")
