"""What stands in for Neutron: Nova asks it even about servers without a network."""

from __future__ import annotations

from tests.servers.base import OwnProcess
from tests.servers.openstack import environment
from tests.servers.openstack.wsgi import WsgiServer


class Network(WsgiServer):
    """Answers that there is nothing of whatever is asked for."""

    name = "network"

    def _prepare(self) -> None:
        """It keeps nothing."""

    def _launch(self) -> list[OwnProcess]:
        command = [str(self._python), str(environment.PROGRAMS / "serve_network.py"), str(self.port)]
        return [OwnProcess(self.name, command, self.log, environment.variables())]
