"""Inspection of a world: collects the facts, and stops the world at the first violation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.rehearsal.cloud.cloud import Cloud
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.nova.states import RUNNING
from lease_scheduler.rehearsal.invariants.catalogue import first_broken
from lease_scheduler.rehearsal.invariants.facts import (
    CloudFacts,
    Facts,
    HoldingFact,
    HostFact,
    LeaseFact,
    OperationFact,
    ProviderFact,
    SentFact,
    ServerFact,
    TransitionFact,
    Violation,
)
from lease_scheduler.rehearsal.runtime.broker import BrokerFaults, BusMessage
from lease_scheduler.rehearsal.runtime.database import DatabaseServer
from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.site import CloudSite
from lease_scheduler.rehearsal.story import Ledger
from lease_scheduler.rehearsal.world import World

#: Seconds between two inspections, and until the next attempt while a transaction runs.
_INTERVAL, _SOON = 60.0, 0.05

_TOPIC = "lease_notifications."

#: Type of the consumers that hold capacity for leases in Placement.
_HOLDER = "LEASE"


class BrokenInvariantError(Exception):
    """An invariant is broken.

    :ivar instant: true seconds since the world began
    """

    def __init__(self, violation: Violation, instant: float) -> None:
        super().__init__(f"{violation.invariant}: {violation.what}")
        self.violation, self.instant = violation, instant


class Overhearing(BrokerFaults):
    """Notes the notifications about transitions that engines send, whatever happens to them on their way.

    :param faults: decides what goes wrong with messages
    """

    def __init__(self, faults: BrokerFaults) -> None:
        self._faults = faults
        self.sent: list[SentFact] = []
        self._numbers: set[int] = set()

    def deliveries(self, message: BusMessage) -> Any:
        """See ``BrokerFaults``."""
        if _TOPIC in message.queue and message.number not in self._numbers:
            content = json.loads(message.body)["message"]
            payload = (
                json.loads(content["oslo.message"])["payload"] if "oslo.message" in content else content["payload"]
            )
            if "state_before" in payload:
                self.sent.append(
                    SentFact(payload["lease_id"], payload["instant"], payload["state_before"], payload["state"])
                )
        return self._faults.deliveries(message)

    def is_away(self, process: Any) -> bool:
        """See ``BrokerFaults``."""
        return self._faults.is_away(process)


class Inspection:
    """Looks at a world every minute.

    :param calm: true seconds since the world began after which nothing new goes wrong
    :ivar number: number of inspections so far
    """

    def __init__(self, world: World, site: CloudSite | None, ledger: Ledger, calm: float) -> None:
        self._world, self._site, self._ledger, self._calm = world, site, ledger, calm
        self.number = 0
        self._heard = world.broker.faults = Overhearing(world.broker.faults)
        world.scheduler.call_later(_INTERVAL, self._look)

    def _look(self) -> None:
        scheduler = self._world.scheduler
        if not self._world.database.is_idle:
            scheduler.call_later(_SOON, self._look)
            return
        self.number += 1
        violation = first_broken(self.facts())
        if violation is not None:
            raise BrokenInvariantError(violation, scheduler.now)
        scheduler.call_later(_INTERVAL, self._look)

    def facts(self) -> Facts:
        """Return the facts of this instant."""
        now, database = self._world.scheduler.now, self._world.database
        leases = _leases(database)
        return Facts(
            EPOCH + now,
            None if now < self._calm else now - self._calm,
            leases,
            [
                TransitionFact(*row)
                for row in database.raw.execute(
                    "SELECT lease_id, instant, from_state, to_state FROM lease_history ORDER BY id"
                )
            ],
            {
                str(row[0]): HostFact(str(row[0]), row[1], {**json.loads(row[2]), HOST_SHARE: WHOLE_HOST})
                for row in database.raw.execute("SELECT id, name, capacity FROM hosts")
            },
            [OperationFact(*row) for row in database.raw.execute("SELECT lease_id, kind, due FROM operations")],
            [row[0] for row in database.raw.execute("SELECT created_at FROM outbox")],
            self._heard.sent,
            self._ledger.leases,
            self._ledger.ended,
            None if self._site is None else cloud_facts(self._site.cloud, leases.values()),
        )


def _leases(database: DatabaseServer) -> dict[str, LeaseFact]:
    holdings: dict[str, list[HoldingFact]] = {}
    query = 'SELECT lease_id, start, run_start, run_end, "end", hosts FROM holdings ORDER BY lease_id, position'
    for lease_id, start, run_start, run_end, end, hosts in database.raw.execute(query):
        holdings.setdefault(lease_id, []).append(HoldingFact(start, run_start, run_end, end, json.loads(hosts)))
    found = {}
    query = (
        "SELECT id, project_id, name, kind, state, ended, maintenance, nodes, offered_until FROM leases "
        "ORDER BY sequence"
    )
    for row in database.raw.execute(query):
        sets = json.loads(row[7])
        nodes = [each["resources"] for each in sets for _ in range(each["count"])]
        is_exclusive = any(each["resources"].get(HOST_SHARE) == WHOLE_HOST for each in sets)
        lease_id, project, name, kind, state, ended, is_maintenance, _, offered_until = row
        found[lease_id] = LeaseFact(
            lease_id,
            project,
            name,
            kind,
            state,
            ended,
            bool(is_maintenance),
            is_exclusive,
            nodes,
            holdings.get(lease_id, ()),
            offered_until,
        )
    return found


def cloud_facts(cloud: Cloud, leases: Iterable[LeaseFact]) -> CloudFacts:
    """Return what is in a cloud.

    :param leases: those of the database
    """
    nova, placement = cloud.nova, cloud.placement
    servers = [
        ServerFact(
            each.id,
            each.project_id,
            each.host,
            each.state,
            _lease_of(each),
            each.power == RUNNING,
        )
        for each in nova.present()
    ]
    aggregates = {
        lease_id: list(each.hosts)
        for each in nova.aggregates.values()
        if (lease_id := names.lease_of_aggregate(each.name)) is not None and not each.name.endswith("-shared")
    }
    providers = [
        ProviderFact(
            each.name,
            {name: inventory.capacity for name, inventory in each.inventories.items()},
            placement.usages(each.id),
        )
        for each in placement.providers.values()
    ]
    working = frozenset(each.name for each in nova.hosts.values() if each.runs)
    return CloudFacts(servers, providers, aggregates, dict(_traces(cloud, servers, leases)), working)


def _lease_of(server: Server) -> str | None:
    """Return the lease that a server was booted for, by its flavor or by a hint, or None."""
    hints = server.asked.hints.get("lease", [])
    return names.lease_of_flavor(server.flavor.name, server.flavor.id) or (hints[0] if hints else None)


def _traces(cloud: Cloud, servers: Iterable[ServerFact], leases: Iterable[LeaseFact]) -> Iterable[tuple[str, str]]:
    """Yield what belongs to leases in a cloud: in words, and the lease."""
    for aggregate in cloud.nova.aggregates.values():
        lease_id = names.lease_of_aggregate(aggregate.name)
        if lease_id is not None:
            yield f"aggregate {aggregate.name}", lease_id
    for flavor in cloud.nova.flavors.values():
        lease_id = names.lease_of_flavor(flavor.name, flavor.id)
        if lease_id is not None:
            yield f"flavor {flavor.name}", lease_id
    for name in cloud.placement.classes:
        lease_id = names.lease_of_slot_class(name)
        if lease_id is not None:
            yield f"resource class {name}", lease_id
    holders = {
        names.consumer(each.lease_id, number): each.lease_id for each in leases for number in range(len(each.nodes))
    }
    for consumer in cloud.placement.consumers.values():
        if consumer.type == _HOLDER:
            yield f"allocation of {consumer.id}", holders.get(consumer.id, "")
    for server in servers:
        if server.lease_id is not None and server.host is not None:
            yield f"server {server.server_id} on {server.host}", server.lease_id
