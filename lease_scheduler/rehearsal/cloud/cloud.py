"""The cloud as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.cloud.nova.api.names import ANCHOR
from lease_scheduler.rehearsal.cloud.glance.service import GlanceService
from lease_scheduler.rehearsal.cloud.glance.store import ACTIVE, PUBLIC, Image
from lease_scheduler.rehearsal.cloud.glance.store import Store as GlanceStore
from lease_scheduler.rehearsal.cloud.http import CloudAdapter, NetworkFaults
from lease_scheduler.rehearsal.cloud.keystone.records import ADMIN, MEMBER, ApplicationCredential, Project, User
from lease_scheduler.rehearsal.cloud.keystone.service import REGION, KeystoneService
from lease_scheduler.rehearsal.cloud.keystone.store import Store as KeystoneStore
from lease_scheduler.rehearsal.cloud.keystone.tokens import guard
from lease_scheduler.rehearsal.cloud.neutron.service import NeutronService
from lease_scheduler.rehearsal.cloud.neutron.store import Network, Port
from lease_scheduler.rehearsal.cloud.neutron.store import Store as NeutronStore
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.api.service import NovaService
from lease_scheduler.rehearsal.cloud.nova.compute.computes import Computes
from lease_scheduler.rehearsal.cloud.nova.compute.recovery import Recovery
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.notices import Notices, Notify
from lease_scheduler.rehearsal.cloud.nova.records import Flavor, Host
from lease_scheduler.rehearsal.cloud.nova.scheduler.scheduler import Scheduler
from lease_scheduler.rehearsal.cloud.nova.store import Store as NovaStore
from lease_scheduler.rehearsal.cloud.options import Options
from lease_scheduler.rehearsal.cloud.placement.classes import STANDARD
from lease_scheduler.rehearsal.cloud.placement.records import Inventory
from lease_scheduler.rehearsal.cloud.placement.service import PlacementService
from lease_scheduler.rehearsal.cloud.placement.store import Store as PlacementStore
from lease_scheduler.rehearsal.cloud.timing import Timing

#: Type of a service in the catalogue -> its URL.
URLS: Mapping[str, str] = {
    "identity": "http://identity/v3",
    "compute": "http://compute/v2.1",
    "placement": "http://placement",
    "image": "http://image",
    "network": "http://network",
}

#: Units of the class without which Nova considers no host for servers of leases (``etc/nova/provider_config``).
_ANCHORS = 100_000

_HOST_TRAITS = frozenset({"COMPUTE_NODE", "COMPUTE_STATUS_DISABLED"})


@dataclass(frozen=True)
class HostSize:
    """What a compute host has.

    :ivar reserved_mb: memory that Nova leaves to the host
    :ivar vcpu_ratio: VCPUs that Nova grants for each processor
    """

    vcpus: int = 10
    memory_mb: int = 8192
    disk_gb: int = 1028
    reserved_mb: int = 512
    vcpu_ratio: float = 4.0
    traits: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Device:
    """A device of a host, with a resource provider of its own below that of the host.

    :ivar name: what follows the name of the host and ``_`` in that of the provider
    """

    name: str
    resource_class: str
    total: int = 1
    traits: frozenset[str] = field(default_factory=frozenset)


class Cloud:
    """Keystone, Placement, Nova, Glance and Neutron.

    :param notify: gets Nova's versioned notifications
    :ivar adapter: answers requests; see ``http.installed``
    :ivar network: hooks at which requests are delayed, fail or are lost
    :ivar computes: stops and starts compute services, and has hooks at which hosts are slow or fail
    :ivar nova: what Nova knows; the same for the other services
    """

    auth_url = URLS["identity"]
    region = REGION

    def __init__(self, timing: Timing, notify: Notify, options: Options | None = None) -> None:
        options = options or Options()
        self.timing = timing
        self.keystone = KeystoneStore(timing, options.token_lifetime)
        self.placement = PlacementStore(
            classes=dict.fromkeys((*STANDARD, ANCHOR)), traits=dict.fromkeys(sorted(_HOST_TRAITS))
        )
        self.glance = GlanceStore(timing)
        self.neutron = NeutronStore(timing)
        self.nova = NovaStore(timing, options, self.placement, self.glance, self.neutron, Notices(notify))
        self.computes = Computes(self.nova)
        self.network = NetworkFaults()
        tools = Tools(self.nova, self.computes, Scheduler(self.nova))
        who = guard(self.keystone)
        context = Context(tools, who)
        self.computes.when_started = Recovery(tools, context.power, context.deleting).recover
        self.adapter = CloudAdapter(
            {
                "identity": KeystoneService(self.keystone, URLS),
                "placement": PlacementService(timing, who, self.placement),
                "compute": NovaService(URLS["compute"], context),
                "image": GlanceService(URLS["image"], who, self.glance),
                "network": NeutronService(URLS["network"], who, self.neutron),
            },
            self.network,
        )

    # -- what operators set up -------------------------------------------------------------------------------

    def add_host(self, name: str, size: HostSize | None = None, devices: Sequence[Device] = ()) -> Host:
        """Add a compute host, which is up and enabled."""
        size, timing = size or HostSize(), self.timing
        provider = self.placement.add_provider(timing.new_id(), name)
        host = Host(
            name,
            timing.new_id(),
            provider.id,
            size.vcpus,
            size.memory_mb,
            size.disk_gb,
            timing.time(),
            cpu_info={"arch": "x86_64", "model": "Nehalem", "vendor": "Intel", "topology": {"cores": size.vcpus}},
        )
        provider.traits = size.traits | {"COMPUTE_NODE"}
        self.placement.traits.update(dict.fromkeys(sorted(provider.traits)))
        self.placement.set_inventories(
            provider,
            {
                "VCPU": Inventory(size.vcpus, max_unit=size.vcpus, allocation_ratio=size.vcpu_ratio),
                "MEMORY_MB": Inventory(size.memory_mb, size.reserved_mb, max_unit=size.memory_mb),
                "DISK_GB": Inventory(size.disk_gb, max_unit=size.disk_gb),
                ANCHOR: Inventory(_ANCHORS, max_unit=1),
            },
        )
        for device in devices:
            self._add_device(host, device)
        self.nova.hosts[name] = host
        self.computes.add(host)
        return host

    def add_flavor(self, name: str, ram: int, vcpus: int, disk: int, **more: Any) -> Flavor:
        """Add a flavor.

        :param ram: MB
        :param disk: GB
        :param more: further attributes of ``Flavor``; ``id`` is random by default
        """
        made = Flavor(more.pop("id", None) or self.timing.new_id(), name, ram, vcpus, disk, **more)
        self.nova.flavors[made.id] = made
        return made

    def add_image(self, name: str, size: int = 25_165_824, image_id: str | None = None, **more: Any) -> Image:
        """Add an image with content, public unless said otherwise.

        :param size: bytes
        """
        made = self.glance.add(name, more.pop("owner", None), {"visibility": PUBLIC, **more}, image_id)
        made.status, made.size = ACTIVE, size
        return made

    def add_project(self, name: str, project_id: str | None = None) -> Project:
        """Add a project."""
        made = Project(project_id or self.timing.new_short_id(), name)
        self.keystone.projects[made.id] = made
        return made

    def add_user(
        self, name: str, password: str, roles: Mapping[str, Sequence[str]], user_id: str | None = None
    ) -> User:
        """Add a user.

        :param roles: project -> names of the roles of the user there
        """
        made = User(user_id or self.timing.new_short_id(), name, password)
        made.roles = {project_id: set(names) for project_id, names in roles.items()}
        for each in (ADMIN, MEMBER, *(name for names in roles.values() for name in names)):
            self.keystone.role_id(each)
        self.keystone.users[made.id] = made
        return made

    def add_application_credential(self, user: User, project_id: str, secret: str) -> ApplicationCredential:
        """Let a program log in as a user."""
        made = ApplicationCredential(
            self.timing.new_short_id(),
            f"of {user.name}",
            secret,
            user.id,
            project_id,
            self.keystone.roles_of(user.id, project_id),
        )
        self.keystone.credentials[made.id] = made
        return made

    def add_network(self, name: str, subnet: str, *, is_external: bool = False) -> Network:
        """Add a network.

        :param subnet: its addresses, such as ``192.0.2.0/24``
        """
        made = Network(self.timing.new_id(), name, subnet, is_external)
        self.neutron.networks[made.id] = made
        return made

    def add_port(self, network: Network, project_id: str) -> Port:
        """Add a port of a project."""
        made = Port(self.timing.new_id(), network.id, project_id)
        self.neutron.ports[made.id] = made
        return made

    def _add_device(self, host: Host, device: Device) -> None:
        self.placement.classes[device.resource_class] = None
        self.placement.traits.update(dict.fromkeys(sorted(device.traits)))
        made = self.placement.add_provider(self.timing.new_id(), f"{host.name}_{device.name}", host.provider_id)
        made.traits = device.traits
        self.placement.set_inventories(made, {device.resource_class: Inventory(device.total, max_unit=device.total)})
