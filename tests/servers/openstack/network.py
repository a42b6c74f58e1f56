"""A stand-in for Neutron, which Nova calls even for servers without a network."""

from __future__ import annotations

from tests.servers.base import OwnProcess
from tests.servers.openstack import environment
from tests.servers.openstack.wsgi import WsgiServer


class Network(WsgiServer):
    """Answers every query with an empty list, except for floating IPs."""

    name = "network"

    def _prepare(self) -> None:
        """Do nothing, because it stores nothing."""

    def _launch(self) -> list[OwnProcess]:
        command = [str(self._python), str(environment.PROGRAMS / "serve_network.py"), str(self.port)]
        return [OwnProcess(self.name, command, self.log, environment.variables())]
