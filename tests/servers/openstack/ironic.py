"""A real Ironic: API and conductor in one process, with fake hardware, SQLite and a password."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

import bcrypt
import requests

from tests.servers.base import OwnProcess, Server, ServerError
from tests.servers.openstack import environment

USER, PASSWORD = "operator", "emulated"

_REQUIREMENTS = Path(__file__).with_name("ironic_requirements.txt")

#: Hardware that does what it is told, and nothing else.
_INTERFACES = {
    **dict.fromkeys(("bios", "console", "firmware", "inspect", "raid", "rescue", "vendor"), "no-{}"),
    **dict.fromkeys(("boot", "deploy", "management", "power"), "fake"),
    **dict.fromkeys(("network", "storage"), "noop"),
}


def install(cache: Path) -> Path:
    """Return the interpreter of Ironic's environment; create it from the package index unless it exists.

    :param cache: folder that is kept from run to run
    :raises MissingServerError: it cannot be installed
    """
    return environment.install(cache, "ironic", _REQUIREMENTS, lambda home: None)


class Ironic(Server):
    """Ironic without nodes at first.

    :param python: interpreter of its environment
    """

    name = "ironic"

    def __init__(self, folder: Path, python: Path) -> None:
        super().__init__(folder)
        self._bin = python.parent

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request of the administrator below ``/v1/`` and return the body of the answer, if it has one."""
        headers = {"X-OpenStack-Ironic-API-Version": "1.88"}
        login = (USER, PASSWORD)
        answer = requests.request(method, f"{self.url}/v1/{path}", json=body, headers=headers, auth=login, timeout=60)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    @property
    def _configuration(self) -> Path:
        return self.folder / "ironic.conf"

    def _prepare(self) -> None:
        if self._configuration.exists():
            return
        hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
        (self.folder / "users").write_text(f"{USER}:{hashed}\n")
        main: dict[str, object] = {
            "auth_strategy": "http_basic",
            "http_basic_auth_user_file": self.folder / "users",
            "enabled_hardware_types": "fake-hardware",
            "default_network_interface": "noop",
            "rpc_transport": "none",
            "my_ip": "127.0.0.1",
            "host": "conductor",
            "state_path": self.folder,
        }
        main |= {f"enabled_{kind}_interfaces": value.format(kind) for kind, value in _INTERFACES.items()}
        sections: dict[str, dict[str, object]] = {
            "DEFAULT": main,
            "api": {"host_ip": "127.0.0.1", "port": self.port},
            "conductor": {"automated_clean": False},
            "database": {"connection": f"sqlite:///{self.folder}/ironic.sqlite"},
            "oslo_concurrency": {"lock_path": self.folder / "locks"},
        }
        self._configuration.write_text(environment.ini(sections))
        made = subprocess.run(
            [self._bin / "ironic-dbsync", "--config-file", self._configuration, "create_schema"],
            env=environment.variables(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if made.returncode:
            raise ServerError(f"the tables of Ironic cannot be created: {made.stderr}")

    def _launch(self) -> list[OwnProcess]:
        program = [str(self._bin / "ironic"), "--config-file", str(self._configuration)]
        return [OwnProcess(self.name, program, self.log, environment.variables())]

    def _answers(self) -> bool:
        try:
            return bool(self.ask("GET", "drivers")["drivers"])
        except (requests.RequestException, AssertionError):
            return False

    def _end(self, process: OwnProcess) -> None:
        process.end(signal.SIGTERM, 30)
