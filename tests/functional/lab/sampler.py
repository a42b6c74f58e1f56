"""Samples of a lab that are taken all the time: which servers are where, what they use, and what Placement counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread

from keystoneauth1.exceptions import ClientException

from tests.functional.lab.service import Document, Service, host_of, usages

#: Servers in these states have their memory on their host. The hypervisors of the lab tell no power state of servers
#: that are suspended.
_RUNNING = frozenset({"ACTIVE", "PAUSED", "RESCUE", "REBOOT", "HARD_REBOOT", "PASSWORD", "MIGRATING"})

_PAUSE = 0.2


@dataclass(frozen=True)
class Seen:
    """A server in a sample."""

    project_id: str
    host: str | None
    server_id: str
    state: str
    runs: bool
    memory_mb: int


@dataclass(frozen=True)
class Sample:
    """What was where.

    :ivar at: when the sample was begun, in seconds since the epoch
    :ivar oversold: hosts and resource classes of which Placement counts more than there is
    """

    at: float
    servers: tuple[Seen, ...]
    oversold: tuple[str, ...]

    def running_mb(self) -> Counter[str]:
        """Return the memory of the servers that run on each host, whatever Placement counts."""
        found: Counter[str] = Counter()
        for each in self.servers:
            if each.runs and each.host is not None:
                found[each.host] += each.memory_mb
        return found


class Sampler:
    """Takes samples while its block runs.

    :ivar samples: the samples, in the order of time
    :ivar memory_mb: memory of each host that servers may use
    """

    def __init__(self, service: Service) -> None:
        self._admin = service.lab.admin
        self._hosts = [host.name for host in service.lab.hosts]
        self._over = Event()
        self._thread = Thread(target=self._go_on)
        self.samples: list[Sample] = []
        self.memory_mb = {host: most["MEMORY_MB"] for host, (_, most) in usages(self._admin, self._hosts).items()}

    def _go_on(self) -> None:
        while not self._over.is_set():
            # A service of the lab that a test has ended is back soon.
            with suppress(ClientException):
                self.samples.append(self._sample())
            self._over.wait(_PAUSE)

    def _sample(self) -> Sample:
        begun = time.time()
        found = self._admin.compute("GET", "/servers/detail?all_tenants=1")["servers"]
        oversold = [
            f"{host}: {name}"
            for host, (used, most) in usages(self._admin, self._hosts).items()
            for name, amount in used.items()
            if amount > most[name]
        ]
        return Sample(begun, tuple(_seen(each) for each in found), tuple(oversold))

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def oversold(self) -> list[str]:
        """Return what Placement counted too much of, and hosts on which more ran than they have."""
        found = [f"{each.at:.1f}: {what}" for each in self.samples for what in each.oversold]
        return found + [
            f"{each.at:.1f}: {amount} of {self.memory_mb[host]} MB run on {host}"
            for each in self.samples
            for host, amount in each.running_mb().items()
            if amount > self.memory_mb[host]
        ]

    def foreign(self, project_id: str, hosts: Collection[str], since: float, until: float) -> list[str]:
        """Return the servers of a project that ran on some hosts in a time, in seconds since the epoch."""
        return [
            f"{each.at - since:.1f} s: {seen.server_id} on {seen.host}: {seen.state}"
            for each in self.samples
            if since <= each.at <= until
            for seen in each.servers
            if seen.runs and seen.project_id == project_id and seen.host in hosts
        ]


def _seen(server: Document) -> Seen:
    return Seen(
        str(server["tenant_id"]),
        host_of(server),
        str(server["id"]),
        f"{server['status']} {server['OS-EXT-STS:task_state']}",
        server["status"] in _RUNNING,
        int(server["flavor"]["ram"]),
    )
