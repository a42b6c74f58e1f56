"""The driver for OpenStack, put together from its parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from keystoneauth1.adapter import Adapter

from lease_scheduler.cloud.differences import Difference, Presence
from lease_scheduler.cloud.facts import (
    DriverEvent,
    Flavor,
    Footprint,
    Hypervisor,
    ImageFacts,
    LeaseOnHosts,
    LeaseServer,
)
from lease_scheduler.cloud.nova.api.addresses import Addresses
from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.api.devices import DeviceReader
from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue, LeaseFlavors
from lease_scheduler.cloud.nova.api.host_services import NovaServices
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.images import GlanceImages
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands, LostOptions
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.api.server_groups import ServerGroups
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.api.usage import ServerUsage
from lease_scheduler.cloud.nova.images.broken_images import BrokenImages
from lease_scheduler.cloud.nova.images.image_records import ImageRecords
from lease_scheduler.cloud.nova.images.precaching import CachePreloading
from lease_scheduler.cloud.nova.images.saving import Saving
from lease_scheduler.cloud.nova.images.snapshots import SnapshotOptions, Snapshots
from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, NONE, LeaseAggregates
from lease_scheduler.cloud.nova.lease.ends import Ends
from lease_scheduler.cloud.nova.lease.entered import Entered
from lease_scheduler.cloud.nova.lease.freepool import Freepool
from lease_scheduler.cloud.nova.lease.reservations import BlazarOptions, Reservations
from lease_scheduler.cloud.nova.lease.servers import Servers
from lease_scheduler.cloud.nova.lease.shares import Agents, ServerShares
from lease_scheduler.cloud.nova.repair.left_over import LeftOver
from lease_scheduler.cloud.nova.repair.overdrafts import Overdrafts
from lease_scheduler.cloud.nova.repair.survey import Survey
from lease_scheduler.cloud.nova.steps.ending import DeleteServers, Leave, Release, Remove
from lease_scheduler.cloud.nova.steps.holding import Holding
from lease_scheduler.cloud.nova.steps.hosts import (
    Enter,
    Hold,
    JoinAggregates,
    Lend,
    SetAggregates,
    Vacate,
    restore_saved,
)
from lease_scheduler.cloud.nova.steps.imaging import BeginImages, Keep, Save, SetApart, Snapshot
from lease_scheduler.cloud.nova.steps.members import Members
from lease_scheduler.cloud.nova.steps.sequence import ANNOUNCED, OperationSteps, names_of
from lease_scheduler.cloud.nova.steps.starting import Begin, Boot, Close, Open, TakeAddresses
from lease_scheduler.cloud.nova.steps.suspending import BringBack, Follow, MoveOff, PutAway
from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals
from lease_scheduler.cloud.nova.vacating.awake import AwakeServers
from lease_scheduler.cloud.nova.vacating.departures import Departures
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.guests import Guests
from lease_scheduler.cloud.nova.vacating.intruders import Intruders
from lease_scheduler.cloud.nova.vacating.options import RoomOptions
from lease_scheduler.cloud.nova.vacating.outliving import OutlivingServers
from lease_scheduler.cloud.nova.vacating.preemption import ServerPreemption
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.cloud.nova.vacating.stale_claims import StaleClaims
from lease_scheduler.cloud.nova.vacating.vacancy import Vacancy
from lease_scheduler.cloud.nova.watch.watcher import Watcher
from lease_scheduler.cloud.observations import AggregateChange, Observer, Stranger
from lease_scheduler.cloud.orders import AnyOrder, Expectation, ImageOrder, ImageProgress
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.providers import ProviderGroup

#: Makes a watcher from hosts, flavors, a test whether a lease is managed, and the names of the hosts of the pool.
MakeWatcher = Callable[[Hosts, FlavorCatalogue, Callable[[str], bool], Callable[[], Collection[str]]], Watcher]

#: Seconds after which to check a step again that is not over yet; the second one where Nova notifies of its end.
_ASK_AGAIN = 1
_ASK_AGAIN_UNLESS_TOLD = 3


@dataclass(frozen=True)
class DriverOptions:
    """What the operator sets.

    :ivar operations: maximum number of servers that are suspended, resumed or moved at the same time
    :ivar operations_per_host: the same limit for one host
    :ivar boot_timeout: seconds after which a boot that is not complete counts as failed
    :ivar room: how servers make room for leases
    :ivar lost: when commands count as lost
    :ivar snapshots: how images of servers are made
    :ivar blazar: what is done for Blazar's clients
    :ivar tells_trespassers: whether ordinary servers on hosts of the pool are reported
    :ivar pci_aliases: by which Nova gives PCI devices to servers
    :ivar shares_per_vcpu: weight of the CPU time of servers of leases for each of their CPUs; 0 for Nova's own
    :ivar renew_interval: real seconds after which orders to agents are repeated
    """

    operations: int = 20
    operations_per_host: int = 4
    boot_timeout: int = 600
    room: RoomOptions = field(default_factory=RoomOptions)
    lost: LostOptions = field(default_factory=LostOptions)
    snapshots: SnapshotOptions = field(default_factory=SnapshotOptions)
    blazar: BlazarOptions = field(default_factory=BlazarOptions)
    tells_trespassers: bool = True
    pci_aliases: PciAliases = field(default_factory=PciAliases)
    shares_per_vcpu: int = 0
    renew_interval: float = 30.0


_DEFAULTS = DriverOptions()


class NovaDriver:
    """See ``cloud.driver.Driver``.

    :param clock: tells the time, and when to check again
    :param nova: novaclient's client with administrator rights
    :param nova_with_facts: the same with a compute API that shows all facts of hypervisors
    :param network: returns an adapter for Neutron; called for leases with floating IPs
    :param glance: returns an adapter for Glance; called when an image is needed
    :param on_behalf_of: returns a client that acts for the user who gave a trust
    :param end_trust: deletes a trust, if it exists
    :param watch_interval: real seconds between two looks at hosts and servers
    :param freepool: name of the aggregate of all hosts that leases may use
    :param options: what else the operator sets
    :param make_watcher: makes the watcher of the cloud; None makes one of services and deleted servers only
    :param trusts: see ``Survey``
    :param user_id: returns the id of the service's own user; None leaves out images that will never be complete
    :param make_agents: returns a client of the agents of hosts, or None if there are no agents
    """

    def __init__(
        self,
        clock: WaitingClock,
        nova: Any,
        nova_with_facts: Any,
        placement: Placement,
        network: Callable[[], Adapter],
        glance: Callable[[], Adapter],
        on_behalf_of: Callable[[str | None], Any],
        end_trust: Callable[[str], None],
        watch_interval: float,
        freepool: str,
        options: DriverOptions = _DEFAULTS,
        make_watcher: MakeWatcher | None = None,
        trusts: Callable[[], Mapping[str, bool]] | None = None,
        user_id: Callable[[], str | None] | None = None,
        make_agents: Callable[[], Agents | None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._hosts = hosts = Hosts(nova_with_facts, placement)
        self._nodes = nodes = Nodes(hosts)
        self._flavors = flavors = FlavorCatalogue(nova, options.pci_aliases)
        self._aggregates = aggregates = Aggregates(nova)
        lease_flavors = LeaseFlavors(nova, options.pci_aliases)
        self._lease_aggregates = lease_aggregates = LeaseAggregates(aggregates)
        self._ends = ends = Ends(aggregates, lease_aggregates)
        lost = LostCommands(nova, options.lost)
        self._aliases = aliases = options.pci_aliases
        self._servers = servers = Servers(
            nova, on_behalf_of, lease_aggregates.project_of, options.boot_timeout, lost, aliases
        )
        self._server_groups = server_groups = ServerGroups(nova, on_behalf_of)
        self._freepool = Freepool(aggregates, freepool)
        self._usage = ServerUsage(nova, servers.find)
        self._shares = ServerShares(make_agents, servers.find, options.renew_interval)
        self._images, self._precaching = GlanceImages(glance), CachePreloading(clock, aggregates, hosts)
        throttle = Throttle(options.operations_per_host, options.operations)
        locks = Locks(nova, on_behalf_of)
        given_up = GivenUpRoom(placement, nodes, locks)
        away = PuttingAway(nova, throttle, lost, locks, placement.release, given_up, options.room)
        self._guests = guests = Guests(
            nova, servers.find, throttle, away, given_up, locks, lease_aggregates.is_taken, options.room.guest_patience
        )
        self._awake = AwakeServers(servers.find, lease_aggregates.all, away, given_up, locks)
        self._reservations = reservations = Reservations(
            aggregates, self._freepool, nodes, servers, lease_flavors, placement, options.blazar
        )
        arrivals = Arrivals(nova, placement.held, placement.release)
        departures = Departures(nova, servers.find, nodes, placement, arrivals)
        intruders = Intruders(nova, servers.find, guests, throttle, lost, departures, options.room)
        holding = Holding(
            placement,
            nodes,
            DeviceReader(placement, lease_flavors.groups),
            lease_flavors,
            guests,
            intruders,
            reservations.labels,
            reservations.claims,
            aliases,
            options.shares_per_vcpu,
            StaleClaims(nova, placement, nodes),
        )
        self._preemption = preemption = ServerPreemption(
            nova, servers.find, guests, intruders, throttle, lost, locks, away, given_up, arrivals, options.room
        )
        outliving = OutlivingServers(nova, throttle, lost, locks)
        vacancy, addresses = Vacancy(nova, servers.find, placement), Addresses(network)
        records = ImageRecords(lease_aggregates)
        self._snapshots = Snapshots(
            clock, nova, on_behalf_of, self._images, records, lost, locks, placement.release, options.snapshots
        )
        saving = Saving(clock, self._snapshots, options.blazar.saves_by_default)
        entered = Entered(nova, servers.find, nodes, placement)
        begin = Begin(lease_aggregates, reservations)
        members = Members(lease_aggregates, nodes, servers, reservations, entered, preemption.is_guest_put_away)
        self._steps = OperationSteps(
            clearing={
                "close": Close(begin, vacancy),
                "set-apart": SetApart(lease_aggregates, reservations, saving, members),
                "snapshot": Snapshot(lease_aggregates, saving, members),
                "delete-servers": DeleteServers(
                    lease_aggregates, servers, entered, saving, preemption, vacancy, members
                ),
                "leave": Leave(lease_aggregates, reservations),
                "release": Release(lease_aggregates, addresses, holding),
                "save": Save(servers, saving),
                "remove": Remove(lease_aggregates, reservations, ends, holding, saving, server_groups, end_trust),
            },
            others={
                "aggregate": SetAggregates(lease_aggregates, reservations, ends, holding, members),
                "join": JoinAggregates(lease_aggregates, reservations, ends, members),
                "vacate": Vacate(clock, nodes, reservations, preemption, vacancy, members),
                "enter": Enter(reservations),
                "hold": Hold(clock, holding),
                "lend": Lend(vacancy, holding),
                "addresses": TakeAddresses(addresses),
                "boot": Boot(begin, servers, reservations),
                "open": Open(begin),
                "put-away": PutAway(clock, lease_aggregates, servers, preemption, members),
                "move-off": MoveOff(clock, lease_aggregates, preemption, members),
                "bring-back": BringBack(lease_aggregates, preemption, members),
                "follow": Follow(clock, hosts, lease_aggregates, servers, preemption, members),
                "keep": Keep(clock, lease_aggregates, servers, outliving, members),
                "image": BeginImages(lease_aggregates, saving, members),
            },
        )
        broken = None if user_id is None else BrokenImages(glance, nova, user_id, options.lost.stalled_after)
        self._survey = Survey(
            clock,
            nova,
            aggregates,
            placement,
            nodes,
            servers,
            reservations,
            aliases,
            options.shares_per_vcpu,
            freepool,
            trusts,
            broken,
            tells_trespassers=options.tells_trespassers,
        )
        self._left_over = LeftOver(aggregates, lease_flavors, placement, server_groups, end_trust, broken)
        self.services = NovaServices(nova, hosts, placement)
        self._pool: frozenset[str] = frozenset()
        self._overdrafts = Overdrafts(
            placement, hosts, lease_aggregates, servers.find, guests, away, lambda: self._pool
        )
        self._watcher = (
            Watcher(nova, hosts, flavors, self._is_managed, watch_interval)
            if make_watcher is None
            else make_watcher(hosts, flavors, self._is_managed, lambda: self._pool)
        )

    def steps(self, order: AnyOrder) -> tuple[str, ...]:
        """See ``Driver.steps``."""
        return names_of(order)

    def perform(self, order: AnyOrder, step: str) -> int | None:
        """See ``Driver.perform``."""
        if self._steps.perform(order, step):
            return None
        is_told = self._watcher.hears_of_servers and step in ANNOUNCED
        return self._clock.now() + (_ASK_AGAIN_UNLESS_TOLD if is_told else _ASK_AGAIN)

    def hypervisors(self, names: Collection[str] | None = None) -> Iterable[Hypervisor]:
        """See ``Driver.hypervisors``."""
        return self._hosts.describe(names)

    def set_pool(self, names: Collection[str]) -> None:
        """See ``Driver.set_pool``. The filter keeps others off the hosts of the pool's aggregate."""
        self._pool = frozenset(names)
        found = (self._hosts.node(name) for name in names)
        self._freepool.keep([node.service for node in found if node], self._reservations.taken_out)

    def pool(self) -> frozenset[str]:
        """See ``Driver.pool``. These are the hosts of the pool's aggregate."""
        return self._nodes.names(self._freepool.hosts())

    def announce(self, starts: Mapping[str, int]) -> None:
        """See ``Driver.announce``. Filter and weigher read it."""
        found = {node.service: instant for name, instant in starts.items() if (node := self._hosts.node(name))}
        self._freepool.announce(found)

    def promise(self, lifetimes: Mapping[float, Mapping[str, int]], until: int) -> None:
        """See ``Driver.promise``. The filter reads it."""
        said = {
            assurance: {node.service: seconds for name, seconds in of_hosts.items() if (node := self._hosts.node(name))}
            for assurance, of_hosts in lifetimes.items()
        }
        self._freepool.promise(said, until)

    def tell_ends(self, ends: Mapping[str, int | None]) -> None:
        """See ``Driver.tell_ends``. The filter reads it."""
        self._ends.tell(ends)

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        """See ``Driver.share``. Agents on the hosts do it; without agents, nothing is done."""
        self._shares.share(revision, yields)

    def agent_cpu_times(self) -> Mapping[str, float]:
        """See ``Driver.agent_cpu_times``."""
        return self._shares.cpu_times()

    def without_shares(self) -> Mapping[str, str]:
        """See ``Driver.without_shares``."""
        return self._shares.degraded

    def flavors(self) -> Mapping[str, Flavor]:
        """See ``Driver.flavors``."""
        return self._flavors

    def unusable(self, group: ProviderGroup) -> str | None:
        """See ``Driver.unusable``."""
        return self._aliases.problem(group)

    def image_facts(self, image_id: str) -> ImageFacts | None:
        """See ``Driver.image_facts``."""
        return self._images.facts(image_id)

    def carry(self, order: ImageOrder) -> ImageProgress:
        """See ``Driver.carry``."""
        return self._precaching.carry(order)

    def clear_carried(self) -> None:
        """See ``Driver.clear_carried``."""
        self._precaching.clear()

    def make_groups(self, lease: Mapping[str, Any]) -> Mapping[str, str]:
        """See ``Driver.make_groups``."""
        return self._server_groups.make(lease)

    def remove_groups(self, groups: Iterable[str]) -> None:
        """See ``Driver.remove_groups``."""
        self._server_groups.remove(groups)

    def aggregate_ids(self, lease_id: str, reservations: Collection[str]) -> Mapping[str, int]:
        """See ``Driver.aggregate_ids``."""
        return self._reservations.aggregate_ids(lease_id, reservations)

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, list[LeaseServer]]:
        """See ``Driver.servers_of``."""
        return self._usage.servers_of(leases)

    def cpu_time(self, server_id: str) -> float | None:
        """See ``Driver.cpu_time``."""
        return self._usage.cpu_time(server_id)

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """See ``Driver.start``."""
        self._shares.start()
        if observer is None:
            self._watcher.start(on_event, regularly=self._look_after_servers, on_cache=self._precaching.hear)
            return
        self._snapshots.on_failure = observer.on_image_missing
        self._watcher.start(
            on_event,
            regularly=self._look_after_servers,
            on_server=observer.on_server,
            on_hosts=observer.on_hosts,
            on_aggregate=partial(self._look_again, observer),
            on_stranger=partial(self._meet, observer),
            on_cache=self._precaching.hear,
            overdrafts=self._overdrafts,
        )

    def _look_after_servers(self) -> None:
        """Bring back servers that made room, and put away those that run where they must not; called at intervals."""
        try:
            self._awake.look()
        finally:
            self._guests.bring_back()

    def _look_again(self, observer: Observer, change: AggregateChange) -> None:
        """Handle a change of an aggregate. It may have been read a moment ago."""
        self._aggregates.look_again(change.name)
        observer.on_aggregate(change)

    def _meet(self, observer: Observer, stranger: Stranger) -> None:
        """Handle a server on a host that a lease has for itself."""
        for server in self._servers.find(uuid=stranger.server_id):
            self._preemption.send_away(server, stranger.lease_id)
        if not stranger.is_known:
            observer.on_stranger(stranger)

    def stop(self) -> None:
        """See ``Driver.stop``."""
        self._shares.stop()
        self._watcher.stop()

    def footprints(self) -> list[Footprint]:
        """See ``Driver.footprints``."""
        known = self._lease_aggregates.all()
        servers = self._servers.by_tag()
        found = []
        for lease_id in known.keys() | servers.keys():
            lease = known.get(lease_id)
            state = lease.servers if lease is not None else ACTIVE
            if (lease is None or lease.managed) and not servers.get(lease_id):
                state = NONE
            hosts = lease.exclusive | lease.shared if lease is not None else frozenset()
            found.append(Footprint(lease_id, state, self._nodes.names(hosts)))
        return found

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        """See ``Driver.differences``."""
        return self._survey.differences(expectations, live, pool)

    def mend(self, expectation: Expectation) -> None:
        """See ``Driver.mend``."""
        if expectation.presence is Presence.SAVED:
            restore_saved(self._lease_aggregates, expectation.order)

    def remove_left_over(self, left_over: Collection[Difference], live: Mapping[str, int]) -> int:
        """See ``Driver.remove_left_over``."""
        return self._left_over.remove(left_over, live)

    def cannot_leave(self) -> str | None:
        """See ``Driver.cannot_leave``."""
        return self._freepool.mistake()

    def leave(self, *, keep_providers: bool = False) -> frozenset[str]:
        """See ``Driver.leave``."""
        self._precaching.clear()
        self._freepool.remove()
        return frozenset() if keep_providers else self._left_over.remove_providers()

    def _is_managed(self, lease_id: str) -> bool:
        known = self._lease_aggregates.known(lease_id)
        return known is not None and known.managed and known.servers == ACTIVE
