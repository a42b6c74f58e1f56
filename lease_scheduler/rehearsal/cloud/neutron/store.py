"""Networks, ports and floating IPs."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal
from lease_scheduler.rehearsal.cloud.timing import Timing


@dataclass(frozen=True)
class Network:
    """A network.

    :ivar subnet: its addresses, such as ``192.0.2.0/24``
    """

    id: str
    name: str
    subnet: str
    is_external: bool

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {"id": self.id, "name": self.name, "router:external": self.is_external, "status": "ACTIVE"}


@dataclass
class Port:
    """A port of a network.

    :ivar device_id: server that has it, or empty
    """

    id: str
    network_id: str
    project_id: str
    device_id: str = ""

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "id": self.id,
            "network_id": self.network_id,
            "project_id": self.project_id,
            "tenant_id": self.project_id,
            "device_id": self.device_id,
            "status": "ACTIVE" if self.device_id else "DOWN",
        }


@dataclass
class FloatingIp:
    """A floating IP."""

    id: str
    network_id: str
    address: str
    project_id: str
    tags: tuple[str, ...] = ()
    port_id: str | None = None

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "id": self.id,
            "floating_network_id": self.network_id,
            "floating_ip_address": self.address,
            "project_id": self.project_id,
            "tenant_id": self.project_id,
            "port_id": self.port_id,
            "tags": list(self.tags),
            "status": "DOWN" if self.port_id is None else "ACTIVE",
        }


@dataclass
class Store:
    """What Neutron knows."""

    timing: Timing
    networks: dict[str, Network] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)
    floating_ips: dict[str, FloatingIp] = field(default_factory=dict)

    def add_floating_ip(self, network_id: str, address: str | None, project_id: str, *, is_admin: bool) -> FloatingIp:
        """Create a floating IP.

        :param address: the address, which only administrators may choose; None for any free one
        :raises Refusal: there is no such external network or address, or the address is taken
        """
        network = self.networks.get(network_id)
        if network is None:
            raise Refusal(404, f"Network {network_id} could not be found.", "NetworkNotFound")
        if not network.is_external:
            raise Refusal(400, f"Bad floatingip request: Network {network_id} is not a valid external network.")
        if address is not None and not is_admin:
            raise Refusal(403, "rule:create_floatingip:floating_ip_address is disallowed by policy")
        taken = {each.address for each in self.floating_ips.values() if each.network_id == network_id}
        addresses = ip_network(network.subnet)
        if address is None:
            free = next((str(each) for each in addresses.hosts() if str(each) not in taken), None)
            if free is None:
                raise Refusal(409, f"No more IP addresses available on network {network_id}.", "IpAddressGeneration")
            address = free
        elif ip_address(address) not in addresses:
            raise Refusal(400, f"Invalid input for operation: IP address {address} is not a valid IP for the subnet.")
        elif address in taken:
            raise Refusal(409, f"IP address {address} already allocated in subnet.", "IpAddressAlreadyAllocated")
        made = FloatingIp(self.timing.new_id(), network_id, address, project_id)
        self.floating_ips[made.id] = made
        return made
