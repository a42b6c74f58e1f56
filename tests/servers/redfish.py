"""The emulator of Redfish controllers that OpenStack's sushy-tools has, with TLS and a password."""

from __future__ import annotations

import ssl
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_DNS, uuid5

import bcrypt

from tests.servers.base import OwnProcess, Server
from tests.servers.certificates import self_signed

USER, PASSWORD = "operator", "emulated"


class Redfish(Server):
    """Emulated machines without anything behind them, which take some seconds to switch on and off.

    :param names: names of the machines; all are on at first
    """

    name = "redfish"

    def __init__(self, folder: Path, names: Sequence[str] = ("host1", "host2")) -> None:
        super().__init__(folder)
        self.names = tuple(names)
        self.certificate = folder / "localhost.pem"

    @property
    def url(self) -> str:
        """The URL at which an administrator connects."""
        return f"https://localhost:{self.port}"

    def system(self, name: str) -> str:
        """Return the path of a machine."""
        return f"/redfish/v1/Systems/{_uuid(name)}"

    def hosts_file(self, path: Path, password: str = PASSWORD) -> Path:
        """Write the file of the hosts for the driver, and return its path."""
        path.write_text(
            "".join(
                f"{name}: {{address: '{self.url}', user: {USER}, password: {password}, system: {self.system(name)}}}\n"
                for name in self.names
            )
        )
        path.chmod(0o600)
        return path

    def _prepare(self) -> None:
        if self.certificate.exists():
            return
        self_signed(self.folder)
        hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
        (self.folder / "users").write_text(f"{USER}:{hashed}\n")
        systems = [{"uuid": _uuid(name), "name": name, "power_state": "On", "nics": []} for name in self.names]
        (self.folder / "emulator.conf").write_text(
            f"SUSHY_EMULATOR_FAKE_DRIVER = True\n"
            f"SUSHY_EMULATOR_FAKE_SYSTEMS = {systems!r}\n"
            f"SUSHY_EMULATOR_STATE_DIR = {str(self.folder)!r}\n"
            f"SUSHY_EMULATOR_AUTH_FILE = {str(self.folder / 'users')!r}\n"
        )

    def _launch(self) -> list[OwnProcess]:
        program = str(Path(sys.executable).with_name("sushy-emulator"))
        arguments = ["--config", str(self.folder / "emulator.conf"), "--interface", "127.0.0.1"]
        arguments += ["--port", str(self.port), "--ssl-certificate", str(self.certificate)]
        arguments += ["--ssl-key", str(self.folder / "localhost.key")]
        return [OwnProcess(self.name, [program, *arguments], self.log)]

    def _answers(self) -> bool:
        token = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        request = urllib.request.Request(f"{self.url}/redfish/v1/Systems", headers={"Authorization": f"Basic {token}"})
        try:
            trusted = ssl.create_default_context(cafile=self.certificate)
            with urllib.request.urlopen(request, timeout=5, context=trusted) as answer:
                return int(answer.status) == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def _end(self, process: OwnProcess) -> None:
        process.kill()


def _uuid(name: str) -> str:
    return str(uuid5(NAMESPACE_DNS, name))
