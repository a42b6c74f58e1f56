"""A site made of separate programs: engines, a broker and a database."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from oslo_config import cfg
from sqlalchemy import select

from lease_scheduler.cmd import configuration, messaging
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.rpc.client import RpcEngineClient
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.schema import OPERATIONS, SITES
from tests.functional.crash.cloud_record import watch_holds
from tests.functional.lease_document import VCPUS
from tests.servers.base import OwnProcess, wait_until

Document = dict[str, Any]

#: The identity of the requests.
CONTEXT: Document = {}

LIMIT = 90.0


class Programs:
    """The programs of a site, in a folder.

    :param database_url: an empty database, in which the tables are created
    :param transport_url: of the broker
    :param hosts: number of hosts of the simulated cloud
    :param coordination_url: of tooz; None for a file in the folder
    :param lines: further lines of the configuration file
    """

    def __init__(
        self,
        folder: Path,
        database_url: str,
        transport_url: str,
        hosts: int = 4,
        coordination_url: str | None = None,
        lines: str = "",
    ) -> None:
        self.folder = folder
        self.hosts = hosts
        self.database = open_database(database_url)
        migrate.upgrade(self.database)
        self.reader = SqlReader(self.database)
        self.cloud_path = folder / "simulated-cloud.sqlite"
        self.configuration_file = folder / "service.conf"
        self.configuration_file.write_text(
            f"[DEFAULT]\ntransport_url = {transport_url}\n"
            f"[database]\nconnection = {database_url.replace('%', '%%')}\nmax_retries = 1\n"
            f"[service]\ncloud = simulated\nstate_path = {folder}\n"
            f"coordination_url = {coordination_url or f'file://{folder}/coordination'}\n"
            f"[simulated_cloud]\nhosts = {hosts}\nvcpus = {VCPUS}\nmemory_mb = 1024\ndisk_gb = 0\n"
            f"{lines}"
        )
        self._engines: list[OwnProcess] = []
        self._transports: list[Any] = []

    def load(self) -> cfg.ConfigOpts:
        """Return the configuration, for parts that run in the process of the test."""
        return configuration.load(["--config-file", str(self.configuration_file)])

    def log(self, engine: OwnProcess) -> str:
        """Return an engine's log."""
        return (self.folder / f"{engine.name}.log").read_text()

    def engine(self, name: str = "engine") -> OwnProcess:
        """Start ``lease-scheduler-engine``; its output is appended to a file with its name."""
        program = str(Path(sys.executable).with_name("lease-scheduler-engine"))
        command = [program, "--config-file", str(self.configuration_file)]
        process = OwnProcess(name, command, self.folder / f"{name}.log")
        self._engines.append(process)
        return process

    def client(self, timeout: float = 10.0) -> RpcEngineClient:
        """Return a client that calls the engine as the API does.

        :param timeout: seconds that the engine may take
        """
        conf = self.load()
        transport = messaging.rpc_transport(conf)
        self._transports.append(transport)
        return RpcEngineClient(transport, conf.service.site, timeout)

    def leader(self) -> tuple[int, str]:
        """Return fencing number and name of the engine that leads or was the last to lead."""
        with self.database.connect() as connection:
            row = connection.execute(select(SITES.c.epoch, SITES.c.engine)).first()
        return (0, "") if row is None else (int(row.epoch), str(row.engine))

    def leader_pid(self) -> int:
        """Return the number of the process that leads."""
        return int(self.leader()[1].rpartition(".")[2])

    def intents(self) -> int:
        """Return the number of commands to the cloud that are not finished."""
        with self.database.connect() as connection:
            return len(connection.execute(select(OPERATIONS.c.id)).all())

    def register(self, client: RpcEngineClient) -> None:
        """Add all hosts to the pool as soon as an engine answers, and start to record overcommitted holds."""
        for number in range(1, self.hosts + 1):
            insist(lambda number=number: client.create_host(CONTEXT, {"name": f"compute-{number}"}))
        watch_holds(self.cloud_path, {"VCPU": VCPUS, HOST_SHARE: WHOLE_HOST})

    def state(self, lease: Document) -> str | None:
        """Return the state of a lease, or None if there is no such lease."""
        view = self.reader.lease(lease["id"], deleted=True)
        return None if view is None else str(view["state"])

    def close(self) -> None:
        """End all processes."""
        for engine in self._engines:
            engine.kill()
        for transport in self._transports:
            transport.cleanup()
        self.database.dispose()
        # oslo.messaging drops lost connections without closing them. Python warns when it collects them, which must not
        # happen within another test.
        gc.collect()


def insist(ask: Any, limit: float = LIMIT) -> Any:
    """Repeat a request until an engine answers, as a client does that has chosen the id; return the answer."""
    answers: list[Any] = []

    def answered() -> bool:
        with suppress(EngineUnavailableError):
            answers.append(ask())
        return bool(answers)

    assert wait_until(answered, limit), "no engine answers"
    return answers[0]
