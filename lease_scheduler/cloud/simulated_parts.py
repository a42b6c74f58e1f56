"""Capabilities of the simulated cloud that need little more than its database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from lease_scheduler.cloud.capabilities import NoUninstall
from lease_scheduler.cloud.facts import Footprint, LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.simulated_work import SimulatedWork
from lease_scheduler.model.providers import ProviderGroup


class SimulatedAnnouncements:
    """See ``cloud.capabilities.Announcements``. Only leases use the hosts, so announcements have no effect.

    :ivar announced: starts of leases that were announced last
    :ivar promised: lifetimes that were promised last, and until when
    :ivar ends: the ends that were told, by lease
    """

    def __init__(self) -> None:
        self.announced: dict[str, int] = {}
        self.promised: tuple[dict[float, dict[str, int]], int] = {}, 0
        self.ends: dict[str, int | None] = {}

    def announce(self, starts: Mapping[str, int]) -> None:
        """See ``Announcements.announce``."""
        self.announced = dict(starts)

    def promise(self, lifetimes: Mapping[float, Mapping[str, int]], until: int) -> None:
        """See ``Announcements.promise``."""
        self.promised = {assurance: dict(of_hosts) for assurance, of_hosts in lifetimes.items()}, until

    def tell_ends(self, ends: Mapping[str, int | None]) -> None:
        """See ``Announcements.tell_ends``."""
        self.ends |= ends


class SimulatedShares:
    """See ``cloud.capabilities.Shares``. Servers work as fast as their share of the CPU allows.

    :param work: the work of servers
    :param lock: lock that every user of the database must hold
    :param on_change: called when work may be over sooner or later than before
    """

    degraded: Mapping[str, str] = {}

    def __init__(
        self,
        database: sqlite3.Connection,
        lock: Lock,
        work: SimulatedWork,
        now: Callable[[], int],
        on_change: Callable[[], None],
    ) -> None:
        self._database = database
        self._lock = lock
        self._work = work
        self._now = now
        self._on_change = on_change

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        """See ``Shares.share``."""
        with self._lock:
            self._database.execute("BEGIN")
            try:
                self._work.share(revision, yields, self._now())
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        self._on_change()

    def cpu_times(self) -> Mapping[str, float]:
        """See ``Shares.cpu_times``. There are no agents."""
        return {}

    def present(self) -> dict[str, float]:
        """Return lease -> part of the CPU that its servers get, for fluid leases."""
        with self._lock:
            return self._work.shares()


class SimulatedDevices:
    """See ``cloud.capabilities.Devices``. Simulated servers can use any device."""

    def problem(self, group: ProviderGroup) -> None:
        """See ``Devices.problem``."""


class SimulatedServerGroups:
    """See ``cloud.capabilities.ServerGroups``. Affinity is accepted, but there are no groups."""

    def make(self, lease: Mapping[str, Any]) -> Mapping[str, str]:
        """See ``ServerGroups.make``."""
        return {}

    def remove(self, groups: Iterable[str]) -> None:
        """See ``ServerGroups.remove``."""


class SimulatedAggregates:
    """See ``cloud.capabilities.Aggregates``. A lease has one aggregate for all its reservations.

    :param lock: lock that every user of the database must hold
    """

    def __init__(self, database: sqlite3.Connection, lock: Lock) -> None:
        self._database = database
        self._lock = lock

    def aggregate_ids(self, lease_id: str, reservations: Collection[str]) -> Mapping[str, int]:
        """See ``Aggregates.aggregate_ids``."""
        with self._lock:
            row = self._database.execute("SELECT rowid FROM leases WHERE id = ?", (lease_id,)).fetchone()
        return {} if row is None else dict.fromkeys(reservations, int(row[0]))


class SimulatedUsage:
    """See ``cloud.capabilities.Usage``. A lease has one server, with the id of the lease.

    :param footprints: returns what all leases have
    :ivar idle: leases whose servers use no CPU time; servers of all others always use one CPU
    """

    def __init__(self, footprints: Callable[[], Iterable[Footprint]], now: Callable[[], int]) -> None:
        self._footprints = footprints
        self._now = now
        self.idle: set[str] = set()

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, Sequence[LeaseServer]]:
        """See ``Usage.servers_of``."""
        states = {each.lease_id: each.servers for each in self._footprints()}
        powers = {"active": Power.ON, "saved": Power.UNKNOWN}
        found = {each.lease_id: powers.get(states.get(each.lease_id, "none")) for each in leases}
        return {key: [LeaseServer(key, power)] for key, power in found.items() if power is not None}

    def cpu_time(self, server_id: str) -> float:
        """See ``Usage.cpu_time``."""
        return 0.0 if server_id in self.idle else float(self._now())


class SimulatedUninstall(NoUninstall):
    """See ``cloud.capabilities.Uninstall``. Without leases there is nothing to remove."""

    def problem(self) -> None:  # type: ignore[override]
        """See ``Uninstall.problem``."""
