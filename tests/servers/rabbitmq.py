"""A real RabbitMQ server."""

from __future__ import annotations

import json
import os
import signal
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.servers.base import MissingServerError, OwnProcess, Server, find_program, free_port

_USER = "guest"
_HTTP_LIMIT_SECONDS = 30


class RabbitMQ(Server):
    """RabbitMQ with its own port mapper, node name and cookie, on loopback ports only.

    Its management plug-in creates virtual hosts in milliseconds; ``rabbitmqctl`` takes seconds.
    """

    name = "rabbitmq"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._mapper_port = free_port()
        self._node_port = free_port()
        self.management_port = free_port()

    @property
    def url(self) -> str:
        return self.virtual_host_url("/")

    def virtual_host_url(self, virtual_host: str) -> str:
        """Return the ``transport_url`` of a virtual host."""
        path = "" if virtual_host == "/" else virtual_host
        return f"rabbit://{_USER}:{_USER}@127.0.0.1:{self.port}/{path}"

    def create_virtual_host(self, virtual_host: str) -> str:
        """Create an empty virtual host and return its URL."""
        self.manage("PUT", f"vhosts/{virtual_host}")
        self.manage("PUT", f"permissions/{virtual_host}/{_USER}", {"configure": ".*", "write": ".*", "read": ".*"})
        return self.virtual_host_url(virtual_host)

    def drop_virtual_host(self, virtual_host: str) -> None:
        """Remove a virtual host, with its queues and the connections to it."""
        self.manage("DELETE", f"vhosts/{virtual_host}")

    def manage(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request to the management interface.

        :param path: below ``/api/``, for example ``queues``
        :raises urllib.error.URLError: it refused, or does not answer
        """
        login = b64encode(f"{_USER}:{_USER}".encode()).decode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.management_port}/api/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=_HTTP_LIMIT_SECONDS) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def _prepare(self) -> None:
        _scripts()
        find_program("epmd")
        (self.folder / "home").mkdir(exist_ok=True)
        (self.folder / "plugins").write_text("[rabbitmq_management].\n")
        (self.folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\n"
            "management.tcp.ip = 127.0.0.1\n"
            f"management.tcp.port = {self.management_port}\n"
            "management_agent.disable_metrics_collector = true\n"
            "vm_memory_high_watermark.absolute = 1GB\n"
            "disk_free_limit.absolute = 50MB\n"
            "log.console = true\n"
            "log.file = false\n"
        )

    def _environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("RABBITMQ_", "ERL_"))}
        return ours | {
            # Contains the cookie by which the parts of a node authenticate each other.
            "HOME": str(self.folder / "home"),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._mapper_port),
            "RABBITMQ_NODENAME": f"test{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._node_port),
            "RABBITMQ_BASE": str(self.folder),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            # The script replaces itself with the server rather than wait for it.
            "RUNNING_UNDER_SYSTEMD": "true",
            # We start the port mapper ourselves, so that it ends with us. Two schedulers are enough, and they do not
            # busy-wait.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} -start_epmd false +S 2:2 +sbwt none"
            ),
        }

    def _launch(self) -> list[OwnProcess]:
        mapper = [str(find_program("epmd")), "-address", "127.0.0.1", "-port", str(self._mapper_port)]
        environment = self._environment()
        server = [str(_scripts() / "rabbitmq-server")]
        return [
            OwnProcess("epmd", mapper, self.log, environment),
            OwnProcess(self.name, server, self.log, environment),
        ]

    def _answers(self) -> bool:
        try:
            self.manage("GET", "health/checks/virtual-hosts")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        return True

    def _end(self, process: OwnProcess) -> None:
        process.end(signal.SIGTERM, 60)


def check_installed() -> None:
    """Check that the required programs are installed.

    :raises MissingServerError: one of them is not
    """
    _scripts()
    find_program("epmd")


def _scripts() -> Path:
    """Return the package's own scripts; those in ``PATH`` insist on running as root or as the user rabbitmq."""
    for folder in sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin"), reverse=True):
        if (folder / "rabbitmq-server").exists():
            return folder
    raise MissingServerError("rabbitmq-server is not installed; tools/install-test-servers.sh installs it")
