"""Parts of the driver for OpenStack that several other parts use."""

from __future__ import annotations

from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue, LeaseFlavors
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.server_groups import ServerGroups
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.assembly.clients import NovaClients
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, LeaseAggregates
from lease_scheduler.cloud.nova.lease.ends import Ends
from lease_scheduler.cloud.nova.lease.freepool import Freepool
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers


class Common:
    """The common parts, as attributes.

    :ivar pool: names of the hosts that leases may use
    """

    def __init__(self, clients: NovaClients, options: DriverOptions) -> None:
        nova, placement, aliases = clients.nova, clients.placement, options.pci_aliases
        self.clients = clients
        self.options = options
        self.placement = placement
        self.hosts = Hosts(clients.nova_with_facts, placement)
        self.nodes = Nodes(self.hosts)
        self.flavors = FlavorCatalogue(nova, aliases)
        self.aggregates = Aggregates(nova)
        self.freepool = Freepool(self.aggregates, options.freepool)
        self.lease_flavors = LeaseFlavors(nova, aliases)
        self.lease_aggregates = LeaseAggregates(self.aggregates)
        self.ends = Ends(self.aggregates, self.lease_aggregates)
        self.throttle = Throttle(options.operations_per_host, options.operations)
        self.lost = LostCommands(nova, options.lost)
        self.locks = Locks(nova, clients.on_behalf_of)
        self.server_groups = ServerGroups(nova, clients.on_behalf_of)
        self.servers = Servers(
            nova, clients.on_behalf_of, self.lease_aggregates.project_of, options.boot_timeout, self.lost, aliases
        )
        self.reservations = Reservations(
            self.aggregates,
            self.freepool,
            self.nodes,
            self.servers,
            self.lease_flavors,
            placement,
            options.blazar,
        )
        self.pool: frozenset[str] = frozenset()

    def is_managed(self, lease_id: str) -> bool:
        """Return whether the engine boots the servers of a lease, and they run now."""
        known = self.lease_aggregates.known(lease_id)
        return known is not None and known.managed and known.servers == ACTIVE
