"""Measurement of what fluid leases use, from which the engine learns what they need."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.needs.base import NeedsSource
from lease_scheduler.fractional.discovery import UNKNOWN, NeedDiscovery, Needs, Sharing
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import VCPU
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.rounds import UpkeepWorker

LOG = logging.getLogger(__name__)

#: Maximum real seconds between new shares and the next measurement, in which agents apply the shares.
_SETTLING = 5.0


def _gap() -> int:
    """Return a number of intervals from one trial to the next that nobody can foresee."""
    return random.randint(2, 4)


class NeedsWatch(UpkeepWorker):
    """Worker that measures the fluid leases of a site at intervals.

    :param source: tells what servers use; None means that leases need what they declare
    :param steady: returns seconds from a clock that cannot be set
    :param gap: returns the number of intervals from one trial to the next
    """

    def __init__(
        self,
        site: SiteTransactions,
        source: NeedsSource | None,
        steady: Callable[[], float] = time.monotonic,
        gap: Callable[[], int] = _gap,
    ) -> None:
        interval = site.options.needs_interval
        super().__init__("needs", interval, first=interval)
        self._site = site
        self._source = source
        self._steady = steady
        is_exact = source is not None and source.is_prompt
        self._discovery = NeedDiscovery(gap if is_exact else None)
        self._needs: Needs = UNKNOWN
        #: When the present interval began; None before the first one.
        self._since: int | None = None
        self._is_silent = False
        self._has_measured = False

    def prepare(self) -> bool:
        """Return whether there is a source."""
        return self._source is not None

    def round(self, now: float) -> float:
        """Measure an interval, or begin one.

        With a prompt source, the rounds alternate: after a measurement, servers get some time for their new shares, and
        the next round begins another interval. Otherwise every round measures.
        """
        began, interval = self._steady(), float(self._site.options.needs_interval)
        settling = min(_SETTLING, interval / 4) if self._source is not None and self._source.is_prompt else 0.0
        if self._has_measured and settling:
            self._has_measured = False
            self.begin()
            wait = interval - settling
        else:
            self._has_measured = True
            try:
                self.measure()
            except EngineUnavailableError:
                self.ask_to_stop()
            wait = settling or interval
        return max(0.1, wait - (self._steady() - began))

    def begin(self) -> None:
        """Have the source count from now on, because what servers used with other shares says nothing."""
        with self._site.lock:
            asked = self._asked()
        if asked:
            self._cpus(asked)

    def measure(self) -> None:
        """Measure what leases have used in the past interval, and begin another one.

        :raises EngineUnavailableError: the engine is stopping
        """
        site = self._site
        with site.lock:
            asked = self._asked()
        if not asked and not self._needs.parts:
            self._since = None
            return
        used = self._used(asked)
        with site.lock:
            # The source may be slow, so the present leases may be others.
            needs = self._discovered(used)
            if needs != self._needs or self._since is None:
                self._needs = needs
                with site.transaction():
                    site.engine.note_needs(needs)
            self._since = site.work.now

    def _discovered(self, used: Mapping[str, float] | None) -> Needs:
        if used is None:
            return self._discovery.forget()
        ratios = self._ratios()
        leases = {each.lease_id: self._sharing(each, used, ratios) for each in _fluid(self._site)}
        return self._discovery.observe(leases)

    def _sharing(self, lease: Lease, used: Mapping[str, float], ratios: Mapping[int, float]) -> Sharing | None:
        """Return how a lease has shared CPU, or None if its share has changed within the interval."""
        progress = lease.progress
        if progress is None or self._since is None or progress.since > self._since:
            return None
        hosts, part = lease.holdings[0].hosts, used.get(lease.lease_id)
        if part is not None:
            part *= max(ratios[host] for host in hosts)
        return Sharing(progress.share, hosts, part)

    def _ratios(self) -> Mapping[int, float]:
        """Return the VCPU that each host offers for each of its CPUs. Shares are counted in VCPU, usage in CPUs."""
        site = self._site
        cpus = {host.name: host.vcpus for host in site.records.hosts.values()}
        return {
            number: max(1.0, host.capacity.get(VCPU, 0) / max(1, cpus.get(host.name, 0)))
            for number, host in enumerate(site.engine.site.hosts)
        }

    def _asked(self) -> list[LeaseOnHosts]:
        """Return the leases whose servers are measured. Hold the lock."""
        owners = self._site.work.documents
        return [LeaseOnHosts(each.lease_id, owners[each.lease_id].project_id) for each in _fluid(self._site)]

    def _used(self, leases: Sequence[LeaseOnHosts]) -> Mapping[str, float] | None:
        """Return the part of its VCPU that the busiest server of each lease used, by lease; None if nothing is known.

        Leases with a server of which nothing is known are left out.
        """
        known = self._cpus(leases)
        if known is None:
            return None
        servers, cpus = known
        found = {each.lease_id: _busiest(servers.get(each.lease_id, ()), cpus) for each in leases}
        return {lease_id: part for lease_id, part in found.items() if part is not None}

    def _cpus(
        self, leases: Sequence[LeaseOnHosts]
    ) -> tuple[Mapping[str, Sequence[LeaseServer]], Mapping[str, float]] | None:
        """Return the servers of leases, and the CPUs that each server used, or None if nothing is known.

        Log when usage becomes unknown, and when it is known again.
        """
        assert self._source is not None
        try:
            servers = self._site.driver.usage.servers_of(leases)
            running = {
                each.server_id for of_lease in servers.values() for each in of_lease if each.power is not Power.OFF
            }
            cpus = self._source.cpus(running)
        except Exception as error:
            if not self._is_silent:
                LOG.warning("it is not known what fluid leases need, so they get what they declare: %s", error)
            self._is_silent = True
            return None
        if self._is_silent:
            LOG.info("it is known again what fluid leases need")
        self._is_silent = False
        return servers, cpus


def _fluid(site: SiteTransactions) -> list[Lease]:
    """Return the fluid leases that run. Hold the lock."""
    return [
        lease
        for lease_id in site.work.documents
        if (lease := site.work.leases[lease_id]).request.min_yield is not None and lease.active_since is not None
    ]


def _busiest(servers: Sequence[LeaseServer], cpus: Mapping[str, float]) -> float | None:
    """Return the part of its VCPU that the busiest server used, or None if that of any server is not known."""
    parts = [0.0]
    for server in servers:
        if server.power is Power.OFF:
            continue
        used = cpus.get(server.server_id)
        if used is None or server.power is Power.UNKNOWN or not math.isfinite(used) or used < 0:
            return None
        parts.append(used / max(1, server.vcpus))
    return max(parts)
