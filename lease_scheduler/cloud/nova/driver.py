"""The driver for OpenStack, assembled from its parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from lease_scheduler.cloud.driver import Ability, Driver
from lease_scheduler.cloud.facts import Footprint, Hypervisor
from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue
from lease_scheduler.cloud.nova.api.host_services import NovaServices
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.images import GlanceImages
from lease_scheduler.cloud.nova.api.usage import ServerUsage
from lease_scheduler.cloud.nova.assembly.announcements import NovaAnnouncements
from lease_scheduler.cloud.nova.assembly.clients import NovaClients
from lease_scheduler.cloud.nova.assembly.common import Common
from lease_scheduler.cloud.nova.assembly.events import NovaEvents
from lease_scheduler.cloud.nova.assembly.operation_steps import operation_steps
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.assembly.repair import NovaRepair, NovaUninstall
from lease_scheduler.cloud.nova.assembly.vacating import Vacating
from lease_scheduler.cloud.nova.images.image_records import ImageRecords
from lease_scheduler.cloud.nova.images.precaching import CachePreloading
from lease_scheduler.cloud.nova.images.saving import Saving
from lease_scheduler.cloud.nova.images.snapshots import Snapshots
from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, NONE
from lease_scheduler.cloud.nova.lease.shares import ServerShares
from lease_scheduler.cloud.nova.steps.sequence import ANNOUNCED, names_of
from lease_scheduler.cloud.nova.watch.watcher import Watcher, WatcherOptions
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.engine.interfaces import WaitingClock

#: Makes a watcher from hosts, flavors, a test whether a lease is managed, and the names of the hosts of the pool.
MakeWatcher = Callable[[Hosts, FlavorCatalogue, Callable[[str], bool], Callable[[], Collection[str]]], Watcher]

#: Seconds after which to check an unfinished step again: usually, and if Nova notifies of its end.
_ASK_AGAIN = 1
_ASK_AGAIN_UNLESS_TOLD = 3

_DEFAULTS = DriverOptions()


class NovaDriver(Driver):
    """Driver for OpenStack, with all abilities and capabilities.

    :param clock: tells the time, and when to check again
    :param make_watcher: makes the watcher of the cloud; None for one that sees only services and deleted servers
    """

    abilities = frozenset(Ability)

    def __init__(
        self,
        clock: WaitingClock,
        clients: NovaClients,
        options: DriverOptions = _DEFAULTS,
        make_watcher: MakeWatcher | None = None,
    ) -> None:
        self._clock = clock
        self._common = common = Common(clients, options)
        self._vacating = vacating = Vacating(common)
        images, precaching = GlanceImages(clients.glance), CachePreloading(clock, common.aggregates, common.hosts)
        self._snapshots = snapshots = Snapshots(
            clock,
            clients.nova,
            clients.on_behalf_of,
            images,
            ImageRecords(common.lease_aggregates),
            common.lost,
            common.locks,
            common.placement.release,
            options.snapshots,
        )
        saving = Saving(clock, snapshots, options.blazar.saves_by_default)
        self._steps = operation_steps(clock, common, vacating, saving)
        watcher = (
            Watcher(
                clients.nova, common.hosts, common.flavors, common.is_managed, WatcherOptions(options.watch_interval)
            )
            if make_watcher is None
            else make_watcher(common.hosts, common.flavors, common.is_managed, lambda: common.pool)
        )
        shares = ServerShares(clients.agents, common.servers.find, options.renew_interval)
        repair = NovaRepair(clock, common)
        self.events: NovaEvents = NovaEvents(common, vacating, watcher, precaching, snapshots, shares)
        self.announcements = NovaAnnouncements(common.hosts, common.freepool, common.ends)
        self.shares = shares
        self.flavors = common.flavors
        self.devices = options.pci_aliases
        self.images = images
        self.image_caches = precaching
        self.server_groups = common.server_groups
        self.aggregates = common.reservations
        self.usage: ServerUsage = ServerUsage(clients.nova, common.servers.find)
        self.services = NovaServices(clients.nova, common.hosts, common.placement)
        self.repair = repair
        self.uninstall = NovaUninstall(common.freepool, precaching, repair.left_over)

    def take_over(self) -> None:
        """See ``Driver.take_over``."""
        self._common.aggregates.forget()
        self._common.ends.forget_all()
        self._common.flavors.forget()
        self._vacating.vacancy.forget_all()

    def steps(self, order: AnyOrder) -> tuple[str, ...]:
        """See ``Driver.steps``."""
        return names_of(order)

    def perform(self, order: AnyOrder, step: str) -> int | None:
        """See ``Driver.perform``."""
        if self._steps.perform(order, step):
            return None
        is_told = self.events.hears_of_servers and step in ANNOUNCED
        return self._clock.now() + (_ASK_AGAIN_UNLESS_TOLD if is_told else _ASK_AGAIN)

    def footprints(self) -> list[Footprint]:
        """See ``Driver.footprints``."""
        known = self._common.lease_aggregates.all()
        servers = self._common.servers.by_tag()
        found = []
        for lease_id in known.keys() | servers.keys():
            lease = known.get(lease_id)
            state = lease.servers if lease is not None else ACTIVE
            if (lease is None or lease.managed) and not servers.get(lease_id):
                state = NONE
            hosts = lease.exclusive | lease.shared if lease is not None else frozenset()
            found.append(Footprint(lease_id, state, self._common.nodes.names(hosts)))
        return found

    def hypervisors(self, names: Collection[str] | None = None) -> Iterable[Hypervisor]:
        """See ``Driver.hypervisors``."""
        return self._common.hosts.describe(names)

    def set_pool(self, names: Collection[str]) -> None:
        """See ``Driver.set_pool``. The filter keeps other servers off the hosts in the aggregate of the pool."""
        common = self._common
        common.pool = frozenset(names)
        found = (common.hosts.node(name) for name in names)
        common.freepool.keep([node.service for node in found if node], common.reservations.taken_out)

    def pool(self) -> frozenset[str]:
        """See ``Driver.pool``. These are the hosts in the aggregate of the pool."""
        return self._common.nodes.names(self._common.freepool.hosts())
