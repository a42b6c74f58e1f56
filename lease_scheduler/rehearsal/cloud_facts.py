"""What is in the cloud of a world, as invariants read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.rehearsal.cloud.cloud import Cloud
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.nova.states import RUNNING
from lease_scheduler.rehearsal.invariants.facts import CloudFacts, LeaseFact, ProviderFact, ServerFact

#: Type of the consumers that hold capacity for leases in Placement.
_HOLDER = "LEASE"

_PREEMPTIBLE = "lease:preemptible"

#: Prefix of the tasks of a resize.
_RESIZING = "resize_"


def cloud_facts(cloud: Cloud, leases: Collection[LeaseFact]) -> CloudFacts:
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
            each.flavor.extra_specs.get(_PREEMPTIBLE) == "true",
            is_resized=(each.task or "").startswith(_RESIZING),
        )
        for each in nova.present()
    ]
    of_leases = [
        (lease_id, each) for each in nova.aggregates.values() if (lease_id := names.lease_of_aggregate(each.name))
    ]
    freepool = [each for each in nova.aggregates.values() if each.name == nova.options.freepool]
    providers = [
        ProviderFact(
            each.name,
            {name: inventory.capacity for name, inventory in each.inventories.items()},
            placement.usages(each.id),
        )
        for each in placement.providers.values()
    ]
    holders = {
        names.consumer(each.lease_id, number): each.lease_id for each in leases for number in range(len(each.nodes))
    }
    consumers = {each.id: holders.get(each.id, "") for each in placement.consumers.values() if each.type == _HOLDER}
    return CloudFacts(
        servers,
        providers,
        {lease_id: list(each.hosts) for lease_id, each in of_leases if not each.name.endswith("-shared")},
        dict(_traces(cloud, servers, consumers, leases)),
        frozenset(each.name for each in nova.hosts.values() if each.runs),
        dict.fromkeys((host for each in [*freepool, *(each for _, each in of_leases)] for host in each.hosts), 0.0),
        Counter(consumers.values()),
    )


def _lease_of(server: Server) -> str | None:
    """Return the lease that a server was booted for, by its flavor or by a hint, or None."""
    hints = server.asked.hints.get("lease", [])
    return names.lease_of_flavor(server.flavor.name, server.flavor.id) or (hints[0] if hints else None)


def _traces(
    cloud: Cloud, servers: Iterable[ServerFact], consumers: Mapping[str, str], leases: Iterable[LeaseFact]
) -> Iterable[tuple[str, str]]:
    """Yield what belongs to leases in a cloud: in words, and the lease.

    :param consumers: consumer that holds capacity in Placement -> lease; empty if the lease does not exist
    """
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
    for each in leases:
        if each.trust_id in cloud.keystone.trusts:
            yield f"trust {each.trust_id}", each.lease_id
    for consumer, lease_id in consumers.items():
        yield f"allocation of {consumer}", lease_id
    for server in servers:
        if server.lease_id is not None and server.host is not None:
            yield f"server {server.server_id} on {server.host}", server.lease_id


class Sightings:
    """Since when servers are seen on their hosts, hosts in the pool, and leases on hosts that they have for themselves.

    What was there at the first look was there before.
    """

    def __init__(self) -> None:
        self._servers: dict[tuple[str, str], float] = {}
        self._pool: dict[str, float] = {}
        self._owned: dict[tuple[str, str], float] = {}
        self._seen: dict[tuple[str, str], float] = {}

    def seen(self, facts: CloudFacts, owned: Iterable[tuple[str, str]], now: float) -> CloudFacts:
        """Return facts with the instants at which things were seen first where they are now.

        :param owned: leases that run, with the hosts that they have for themselves
        """
        here = [(each.server_id, each.host) for each in facts.servers if each.host is not None]
        self._servers = {key: self._servers.get(key, now) for key in here}
        self._pool = {host: self._pool.get(host, now) for host in facts.pool}
        self._owned = {key: self._owned.get(key, now) for key in owned}
        self._seen.update(((each.host, each.lease_id or ""), now) for each in facts.servers if each.host is not None)
        servers = [
            each if each.host is None else replace(each, since=self._servers[each.server_id, each.host])
            for each in facts.servers
        ]
        return replace(facts, servers=servers, pool=self._pool, owned=self._owned, seen=self._seen)
