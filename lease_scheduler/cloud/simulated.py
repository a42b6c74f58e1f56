"""Simulated cloud in its own database file, for the embedded service and for tests of the service.

It outlives the engine, as a real cloud does: aggregates, held capacity and servers of every lease are rows that are
found again by the id of the lease. If the extras of a lease have ``real_duration``, its servers are gone after running
for that many seconds, which only the cloud knows. Like Placement, it refuses to hold more of a host than there is, so
it reveals an engine that oversells.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from threading import Lock

from lease_scheduler.cloud.driver import Ability, Driver, StepFailedError
from lease_scheduler.cloud.facts import DriverEvent, Flavor, Footprint, Hypervisor
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.cloud.simulated_hypervisors import SimulatedHypervisors, whole_capacity
from lease_scheduler.cloud.simulated_images import SimulatedImages
from lease_scheduler.cloud.simulated_parts import (
    SimulatedAggregates,
    SimulatedAnnouncements,
    SimulatedDevices,
    SimulatedServerGroups,
    SimulatedShares,
    SimulatedUninstall,
    SimulatedUsage,
)
from lease_scheduler.cloud.simulated_services import SimulatedServices
from lease_scheduler.cloud.simulated_work import SimulatedWork
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.interfaces import EventKind, OperationKind, WaitingClock
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.worker import Worker

#: Seconds after which to try again to hold capacity that is not free yet.
_ASK_AGAIN = 1

#: Longest wait for the end of work, in real seconds. The clock may be set meanwhile.
_LONGEST_WAIT = 2.0

_STEPS = {
    OperationKind.START: ("aggregate", "hold", "boot"),
    OperationKind.RESUME: ("aggregate", "hold", "unshelve"),
    OperationKind.SUSPEND: ("shelve", "release"),
    OperationKind.STOP: ("delete-servers", "release", "remove-aggregate"),
    OperationKind.MIGRATE: ("move-saved-state",),
    OperationKind.ADJUST: ("aggregate", "hold"),
    # Simulated servers have no disks.
    OperationKind.SNAPSHOT: (),
}
_REMOVAL = ("delete-servers", "release", "remove-aggregate")

#: State of the servers after each step that leaves some.
_SERVERS_AFTER = {"boot": "active", "unshelve": "active", "shelve": "saved"}

_FLAVORS = {
    str(number): Flavor({"VCPU": vcpus, "MEMORY_MB": memory_mb, "DISK_GB": disk_gb})
    for number, (vcpus, memory_mb, disk_gb) in enumerate(
        ((1, 512, 1), (1, 2048, 20), (2, 4096, 40), (4, 8192, 80), (8, 16384, 160)), start=1
    )
}

_TABLES = """
CREATE TABLE IF NOT EXISTS leases (id TEXT PRIMARY KEY, aggregate TEXT, servers TEXT NOT NULL DEFAULT 'none');
CREATE TABLE IF NOT EXISTS held (
    lease_id TEXT, host TEXT, class TEXT, amount INTEGER NOT NULL, PRIMARY KEY (lease_id, host, class)
);
CREATE INDEX IF NOT EXISTS held_by_host ON held (host, class);
CREATE TABLE IF NOT EXISTS timers (intent INTEGER, step TEXT, over INTEGER NOT NULL, PRIMARY KEY (intent, step));
"""


class SimulatedCloud(Driver):
    """Driver of the simulated cloud, which is also its source of events.

    :param path: the file, or ``:memory:`` for a cloud that is lost when the process ends
    :param clock: tells the time, and how long to wait for an instant
    :param behaviour: how long operations really take, and how often they fail
    """

    abilities = frozenset(Ability)
    announcements: SimulatedAnnouncements
    shares: SimulatedShares
    image_caches: SimulatedImages
    usage: SimulatedUsage

    def __init__(self, path: str, clock: WaitingClock, behaviour: CloudBehaviour | None = None) -> None:
        self._now = clock.now
        self._seconds_until = clock.seconds_until
        self._behaviour = behaviour or CloudBehaviour()
        self._random = Random(self._behaviour.seed)
        self._lock = Lock()
        self._pool: frozenset[str] = frozenset()
        self._watcher: Worker | None = None
        self._told: list[DriverEvent] = []
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.executescript(_TABLES)
        self._work = SimulatedWork(self._database)
        self._hypervisors = SimulatedHypervisors(self._database)
        self.events = self
        self.announcements = SimulatedAnnouncements()
        self.shares = SimulatedShares(self._database, self._lock, self._work, self._now, self._look_again)
        self.flavors = _FLAVORS
        self.devices = SimulatedDevices()
        self.image_caches = SimulatedImages(self._database, self._lock, self._now, self._behaviour)
        self.server_groups = SimulatedServerGroups()
        self.aggregates = SimulatedAggregates(self._database, self._lock)
        self.usage = SimulatedUsage(self.footprints, self._now)
        self.services = SimulatedServices(self._database, self._lock)
        self.uninstall = SimulatedUninstall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def add_hypervisors(self, hypervisors: Iterable[Hypervisor]) -> None:
        """Add compute hosts, or replace those of the same name."""
        with self._lock, self._database:
            self._hypervisors.add(hypervisors)

    def hypervisors(self, names: Collection[str] | None = None) -> list[Hypervisor]:
        """See ``Driver.hypervisors``."""
        with self._lock:
            return self._hypervisors.find(names)

    def set_pool(self, names: Collection[str]) -> None:
        """See ``Driver.set_pool``. Only leases use these hosts anyway."""
        self._pool = frozenset(names)

    def pool(self) -> frozenset[str]:
        """See ``Driver.pool``."""
        return self._pool

    def steps(self, order: AnyOrder) -> tuple[str, ...]:
        """See ``Driver.steps``."""
        return _REMOVAL if isinstance(order, Removal) else _STEPS[order.operation.kind]

    def perform(self, order: AnyOrder, step: str) -> int | None:
        """See ``Driver.perform``."""
        with self._lock, self._transaction():
            return self._perform(order, step)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _perform(self, order: AnyOrder, step: str) -> int | None:
        lease_id = order.lease_id
        if step == "remove-aggregate":
            self._database.execute("DELETE FROM leases WHERE id = ?", (lease_id,))
        elif step == "release":
            self._database.execute("DELETE FROM held WHERE lease_id = ?", (lease_id,))
        elif isinstance(order, Removal):
            self._delete_servers(lease_id)
        elif step == "aggregate":
            self._put_aggregate(order)
        elif step == "hold":
            return self._hold(order)
        else:
            return self._change_servers(order, step)
        return None

    def _delete_servers(self, lease_id: str) -> None:
        self._work.forget(lease_id)
        self._database.execute("UPDATE leases SET servers = 'none' WHERE id = ?", (lease_id,))

    def _put_aggregate(self, order: Order) -> None:
        self._database.execute(
            "INSERT INTO leases (id, aggregate) VALUES (?, ?)"
            " ON CONFLICT (id) DO UPDATE SET aggregate = excluded.aggregate",
            (order.lease_id, json.dumps(sorted(set(order.hosts)))),
        )

    def _hold(self, order: Order) -> int | None:
        """Hold what the lease needs. Return the instant of the next attempt if it is not free yet, or None if held."""
        self._database.execute("DELETE FROM held WHERE lease_id = ?", (order.lease_id,))
        for host, needed in held_by_host(order.request, order.hosts).items():
            capacity = self._hypervisors.capacity(host)
            if capacity is None or host in order.without:
                continue
            for resource_class, amount in needed.items():
                query = "SELECT COALESCE(SUM(amount), 0) FROM held WHERE host = ? AND class = ?"
                taken = self._database.execute(query, (host, resource_class)).fetchone()[0]
                if taken + amount > capacity.get(resource_class, 0):
                    self._database.execute("DELETE FROM held WHERE lease_id = ?", (order.lease_id,))
                    return self._now() + _ASK_AGAIN
                self._database.execute(
                    "INSERT INTO held VALUES (?, ?, ?, ?)", (order.lease_id, host, resource_class, amount)
                )
        return None

    def _change_servers(self, order: Order, step: str) -> int | None:
        key = (order.intent_id, step)
        query = "SELECT over FROM timers WHERE intent = ? AND step = ?"
        row = self._database.execute(query, key).fetchone()
        if row is None:
            fetching = self.image_caches.seconds_to_boot(order) if step == "boot" else 0
            seconds = self._behaviour.operation_seconds(order.operation, fetching, self._random)
            over = self._now() + seconds
            self._database.execute("INSERT INTO timers VALUES (?, ?, ?)", (*key, over))
        else:
            over = row[0]
        if over > self._now():
            return int(over)
        self._database.execute("DELETE FROM timers WHERE intent = ? AND step = ?", key)
        if self._behaviour.fails(order.operation.kind, self._random):
            host = order.hosts[self._random.randrange(len(order.hosts))] if order.hosts else None
            raise StepFailedError(f"{step} failed on {host}", host)
        if step == "delete-servers":
            self._delete_servers(order.lease_id)
        elif step in _SERVERS_AFTER:
            self._count_work(order, step)
            query = "UPDATE leases SET servers = ? WHERE id = ?"
            self._database.execute(query, (_SERVERS_AFTER[step], order.lease_id))
        return None

    def _count_work(self, order: Order, step: str) -> None:
        if step == "shelve":
            self._work.pause(order.lease_id, order.operation.begun)
        elif need := order.request.extras.get("real_duration"):
            self._work.go_on(order.lease_id, int(need), max(self._now(), order.operation.due))
            self._look_again()

    # -- events of the cloud itself ----------------------------------------------------------------------

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """See ``Events.start``."""
        self._watcher = Worker("simulated-cloud", partial(self._watch, on_event), _LONGEST_WAIT)
        self._watcher.start()

    def stop(self) -> None:
        """See ``Events.stop``."""
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None

    def _look_again(self) -> None:
        watcher = self._watcher
        if watcher is not None:
            watcher.wake()

    def _watch(self, on_event: Callable[[DriverEvent], None]) -> float | None:
        for event in [*self._ended(), *self._take_told()]:
            on_event(event)
        return self._pause()

    def _ended(self) -> list[DriverEvent]:
        with self._lock:
            ended = self._work.take_done(self._now())
            for lease_id in ended:
                self._database.execute("UPDATE leases SET servers = 'none' WHERE id = ?", (lease_id,))
        return [DriverEvent(EventKind.ENDED, lease_id, reason="its work is done") for lease_id in ended]

    def _take_told(self) -> list[DriverEvent]:
        with self._lock:
            told, self._told = self._told, []
            return told

    def _pause(self) -> float | None:
        """Return the real seconds until the next check for leases whose work is over, or None if none is to come."""
        with self._lock:
            earliest = self._work.next_end()
        return None if earliest is None else min(max(0.01, self._seconds_until(earliest)), _LONGEST_WAIT)

    def tell(self, event: DriverEvent) -> None:
        """Make an event happen: a host fails or recovers, or the servers of a lease vanish."""
        with self._lock:
            if event.kind is EventKind.ENDED:
                self._database.execute("UPDATE leases SET servers = 'none' WHERE id = ?", (event.lease_id,))
            self._told.append(event)
        self._look_again()

    def footprints(self) -> list[Footprint]:
        """See ``Driver.footprints``."""
        with self._lock:
            leases = self._database.execute("SELECT id, servers FROM leases").fetchall()
            held = self._database.execute("SELECT DISTINCT lease_id, host FROM held").fetchall()
        hosts: dict[str, set[str]] = {lease_id: set() for lease_id, _ in leases}
        for lease_id, host in held:
            hosts.setdefault(lease_id, set()).add(host)
        servers = dict(leases)
        return [Footprint(lease_id, servers.get(lease_id, "none"), frozenset(of)) for lease_id, of in hosts.items()]

    def oversold(self) -> list[str]:
        """Return overcommitted hosts, with resource class and held amount. Only a broken engine causes any."""
        query = "SELECT host, class, SUM(amount) FROM held GROUP BY host, class"
        with self._lock:
            capacity = {host.name: whole_capacity(host) for host in self._hypervisors.find()}
            held = self._database.execute(query).fetchall()
        return [f"{host} {kind}: {total}" for host, kind, total in held if total > capacity[host].get(kind, 0)]


def held_by_host(request: LeaseRequest, hosts: tuple[str, ...]) -> dict[str, Counter[str]]:
    """Return host -> resource class -> amount that a lease needs there.

    :param hosts: name of the host of each node
    """
    needed: dict[str, Counter[str]] = {}
    resources = [node_set.needs for node_set in request.nodes for _ in range(node_set.count)]
    for host, of_one in zip(hosts, resources, strict=True):
        needed.setdefault(host, Counter()).update(of_one)
    return needed
