"""What all HTTP services of OpenStack have in common: a WSGI module, served by waitress."""

from __future__ import annotations

import signal
from pathlib import Path

import requests

from tests.servers.base import OwnProcess, Server
from tests.servers.openstack import environment


class WsgiServer(Server):
    """A service whose WSGI module has an attribute ``application``.

    :param python: interpreter of the environment in which it is installed
    """

    #: Name of the module.
    module: str
    threads = 8

    def __init__(self, folder: Path, python: Path) -> None:
        super().__init__(folder)
        self._python = python

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _variables(self) -> dict[str, str]:
        """Return all environment variables, including the path of its configuration."""
        return environment.variables()

    def _launch(self) -> list[OwnProcess]:
        program = environment.PROGRAMS / "serve_wsgi.py"
        command = [str(self._python), str(program), self.module, str(self.port), str(self.threads)]
        return [OwnProcess(self.name, command, self.log, self._variables())]

    def _answers(self) -> bool:
        try:
            # Listing its versions needs neither a token nor any other service.
            return requests.get(self.url, timeout=5, allow_redirects=False).status_code in (200, 300)
        except requests.RequestException:
            return False

    def _end(self, process: OwnProcess) -> None:
        process.end(signal.SIGTERM, 30)
