"""Detection and repair of overdrafts: capacity of which Placement has granted more than there is.

Placement may grant two simultaneous claims (the page on Placement says when). This may happen even after a lease has
checked what it holds, if a claim by Nova began earlier and is written later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any

from lease_scheduler.cloud.driver import HostsOccupiedError, StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.hosts import Hosts, Node
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.lease.aggregate_metadata import LeaseAggregates
from lease_scheduler.cloud.nova.vacating.guests import Guests
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.model.kinds import PreemptionMode

LOG = logging.getLogger(__name__)


class Overdrafts:
    """Detector of overdrafts on hosts of the pool.

    :param listed: returns all servers that satisfy a query to Nova
    :param away: puts servers away
    :param pool: returns the names of the hosts that leases may use
    """

    def __init__(
        self,
        placement: Placement,
        hosts: Hosts,
        lease_aggregates: LeaseAggregates,
        listed: Callable[..., list[Any]],
        guests: Guests,
        away: PuttingAway,
        pool: Callable[[], Collection[str]],
    ) -> None:
        self._placement = placement
        self._hosts = hosts
        self._lease_aggregates = lease_aggregates
        self._listed = listed
        self._guests = guests
        self._away = away
        self._pool = pool
        self._generations: dict[str, int] = {}
        self._told: dict[str, Mapping[str, int]] = {}

    def look(self) -> None:
        """Check the hosts of the pool whose providers have changed since the last check, or were overdrawn then."""
        pool = frozenset(self._pool())
        if not pool:
            return
        listed = self._placement.providers()
        kept = {}
        for host in sorted(pool):
            for name in (host, names.slots_provider(host)):
                if name not in listed:
                    continue
                provider_id, generation = listed[name]
                if self._generations.get(provider_id) != generation or provider_id in self._told:
                    self._look_at(host, provider_id)
                kept[provider_id] = generation
        self._generations = kept
        self._told = {provider_id: excess for provider_id, excess in self._told.items() if provider_id in kept}

    def look_at(self, service: str) -> None:
        """Check the slots on a host to which a server has come.

        :param service: name of its compute service
        """
        host = self._hosts.services().get(service, service)
        if host in self._pool():
            self._look_at(host, names.slots_provider_id(host))

    def _look_at(self, host: str, provider_id: str) -> None:
        excess = self._placement.overdrawn(provider_id)
        if not excess:
            self._told.pop(provider_id, None)
        elif provider_id == names.slots_provider_id(host):
            self._tell(provider_id, excess, f"more servers of a lease are on host {host} than it has slots there")
            for kind, surplus in excess.items():
                self._shelve_youngest(host, provider_id, kind, surplus)
        else:
            self._give_room(host, provider_id, excess)

    def _shelve_youngest(self, host: str, provider_id: str, kind: str, surplus: int) -> None:
        """Shelve the servers that Placement should have refused: the youngest ones. They keep all their data."""
        consumers = self._placement.consumers_on(provider_id)
        found = [
            server
            for consumer, amounts in sorted(consumers.items())
            if kind in amounts
            for server in self._listed(uuid=consumer)
        ]
        going = [server for server in found if of.is_going(server)]
        there = [each for each in found if each not in going]
        there.sort(key=lambda server: (str(server.created), str(server.id)), reverse=True)
        # Idle servers first: if a user keeps one of them busy, another one is shelved instead.
        there.sort(key=of.is_busy)
        for server in there[: max(0, surplus - len(going))]:
            LOG.warning(
                "server %s of project %s is one more than its lease has slots on host %s, and is shelved",
                server.id,
                server.tenant_id,
                host,
            )
            try:
                self._away.put_away([server], PreemptionMode.SHELVE, 1)
            except StepFailedError as error:
                LOG.warning("%s", error)

    def _give_room(self, host: str, provider_id: str, excess: Mapping[str, int]) -> None:
        node = self._hosts.node(host)
        if node is None or not self._is_anything_held(node):
            # No lease holds anything there.
            return
        self._tell(provider_id, excess, f"more is taken of host {host} than it has, and leases hold a part of it")
        try:
            makes_room = self._guests.make_room(host, node.service, lambda: self._placement.overdrawn(provider_id))
        except HostsOccupiedError as error:
            LOG.warning("%s", error)
            return
        if not makes_room:
            LOG.info("no server on host %s makes room", host)

    def _is_anything_held(self, node: Node) -> bool:
        """Return whether capacity of a host is held for leases."""
        consumers = self._placement.consumers_on(node.provider_id).keys()
        return any(
            names.consumer(known.lease_id, number) in consumers
            for known in self._lease_aggregates.all().values()
            if node.service in known.shared
            for number in range(known.vms)
        )

    def _tell(self, provider_id: str, excess: Mapping[str, int], what: str) -> None:
        """Log an overdraft, unless it was logged before."""
        if self._told.get(provider_id) != excess:
            self._told[provider_id] = excess
            amounts = ", ".join(f"{amount} of {name}" for name, amount in sorted(excess.items()))
            LOG.warning(
                "%s (%s too much): either Placement has granted simultaneous claims, which lease-scheduler-status "
                "upgrade check tests for, or the inventory has shrunk",
                what,
                amounts,
            )
