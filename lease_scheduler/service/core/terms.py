"""Translation of a lease document into terms to plan with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.property_query import ANYTHING, Query, matches, parse_query
from lease_scheduler.model.resources import DISK_GB, FLOATING_IP, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.plan.explaining.explain import Refusal
from lease_scheduler.records.attributes import REMARKS, TERMS, asked_values, values
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.service.core.known_images import KnownImages
from lease_scheduler.service.core.provider_terms import (
    Needs,
    NestedClasses,
    check_preemption_mode,
    divide,
    divided_least,
    extra_needs,
    groups_of,
)


@dataclass(frozen=True)
class Pool:
    """The hosts, addresses and flavors that requests can choose from.

    :ivar hosts: the compute hosts
    :ivar floating_ips: the addresses
    :ivar flavors: resources and traits by flavor id, as the cloud reports them
    :ivar images: sizes of disk images; None if images are not transferred to hosts before leases start
    :ivar hidden: names of properties that queries never find
    :ivar nested: what the hosts of the pool in which the request is planned have on nested providers
    """

    hosts: Sequence[HostRecord]
    floating_ips: Sequence[FloatingIpRecord]
    flavors: Mapping[str, Flavor]
    images: KnownImages | None = None
    hidden: frozenset[str] = frozenset()
    nested: NestedClasses = field(default_factory=NestedClasses)

    def matching(self, *queries: Query) -> frozenset[str] | None:
        """Return the names of the hosts that satisfy every query, or None if there is no condition."""
        conditions = [query for query in queries if query != ANYTHING]
        if not conditions:
            return None
        return frozenset(
            host.name
            for host in self.hosts
            if all(matches(query, self._shown_facts(host), host.traits) for query in conditions)
        )

    def _shown_facts(self, host: HostRecord) -> dict[str, str]:
        return {name: value for name, value in facts(host).items() if name not in self.hidden}


def facts(host: HostRecord) -> dict[str, str]:
    """Return the facts that a query can test: those from the cloud and the properties set by operators."""
    own = {
        "id": host.host_id,
        "hypervisor_hostname": host.name,
        "hypervisor_type": host.hypervisor_type,
        "hypervisor_version": host.hypervisor_version,
        "vcpus": host.vcpus,
        "cpu_info": host.cpu_info,
        "memory_mb": host.memory_mb,
        "local_gb": host.local_gb,
        "service_name": host.service_name,
        "availability_zone": host.availability_zone or "",
    }
    return {**{name: str(value) for name, value in own.items()}, **host.properties}


@dataclass(frozen=True)
class Terms:
    """The terms of a lease, ready to be planned.

    :ivar least: for each node set, the fewest nodes that suffice
    :ivar elsewhere: refusals of the other pools that the request may use, if its own pool refuses it too
    """

    request: LeaseRequest
    least: tuple[int, ...]
    document: LeaseDocument
    elsewhere: tuple[Refusal, ...] = ()


def build_terms(lease: Document, pool: Pool, now: int, submitted: int | None = None) -> Terms:
    """Return the terms of a lease document (see ``api.requests.lease`` for its keys).

    :param submitted: when the lease was first requested; None means now
    :raises InvalidValueError: naming the key
    """
    kind = LeaseKind(lease["kind"])
    node_sets: list[NodeSet] = []
    least: list[int] = []
    reservations = []
    for position, reservation in enumerate(lease["reservations"]):
        field = f"reservations[{position}]"
        found = _node_sets(reservation, pool, field, lease["project_id"])
        node_sets += [node_set for node_set, _ in found]
        least += [fewest for _, fewest in found]
        reservations.append(
            ReservationRecord(
                reservation_id=reservation["id"],
                resource_type=reservation["resource_type"],
                resource_id=reservation["id"],
                terms=_terms_shown(reservation, pool),
                node_sets=len(found),
                created_at=now,
            )
        )
    servers = tuple(lease.get("servers") or ())
    if pool.images is not None and servers:
        node_sets = [replace(each, boots=pool.images.boots(servers, number)) for number, each in enumerate(node_sets)]
    if lease.get("min_yield") is not None:
        node_sets = [_fluid(each, lease["min_yield"], f"nodes[{number}]") for number, each in enumerate(node_sets)]
    start, duration = _interval(lease, kind, now)
    # The simulator suspends by default; the service shelves.
    asked = {**lease, "preemption_mode": lease.get("preemption_mode") or PreemptionMode.SHELVE.value}
    request = LeaseRequest(
        lease_id=lease["id"],
        kind=kind,
        nodes=tuple(node_sets),
        submitted=now if submitted is None else submitted,
        duration=duration,
        start=start,
        deadline=lease.get("deadline"),
        user=lease["project_id"],
        moves_others=bool(lease.get("maintenance")),
        **values(TERMS, asked),
    )
    check_preemption_mode(request)
    document = LeaseDocument(
        lease_id=lease["id"],
        created_at=now,
        before_end=lease.get("before_end"),
        servers=servers,
        reservations=tuple(reservations),
        **values(REMARKS, lease),
    )
    return Terms(request, tuple(least), document)


def _fluid(node_set: NodeSet, min_yield: float, field: str) -> NodeSet:
    """Return a node set of a fluid lease.

    :param field: name of the node set in messages
    """
    if VCPU not in node_set.resources:
        raise InvalidValueError("min_yield", f"is a part of the VCPU of each node; {field} has none, so leave it out")
    if node_set.resources.get(HOST_SHARE) == WHOLE_HOST:
        raise InvalidValueError(
            "min_yield", f"is for nodes that share their host, and {field} is exclusive; leave it out"
        )
    if node_set.least_resources is not None:
        raise InvalidValueError(f"{field}.least_resources", "does not go with min_yield; leave one of them out")
    return node_set.made_fluid(min_yield)


def _terms_shown(reservation: Document, pool: Pool) -> dict[str, Any]:
    """Return the terms to show for a reservation; for a flavor also its resources, as Blazar does."""
    terms = {key: value for key, value in reservation.items() if key not in ("id", "resource_type")}
    flavor = pool.flavors.get(reservation.get("flavor_id", ""))
    if reservation["resource_type"] != "flavor:instance" or flavor is None:
        return terms
    vcpus, memory_mb, disk_gb = (flavor.resources.get(name, 0) for name in (VCPU, MEMORY_MB, DISK_GB))
    source = {"id": reservation["flavor_id"], "vcpus": vcpus, "ram": memory_mb, "disk": disk_gb}
    extra_specs = {f"trait:{name}": "required" for name in sorted(flavor.traits)}
    return {
        **terms,
        "vcpus": vcpus,
        "memory_mb": memory_mb,
        "disk_gb": disk_gb,
        "resource_properties": json.dumps({**source, "extra_specs": extra_specs}),
    }


def _interval(lease: Document, kind: LeaseKind, now: int) -> tuple[int | None, int]:
    """Return the start of a lease, or None if it is not given, and its duration."""
    start, end, duration = lease.get("start"), lease.get("end"), lease.get("duration")
    if kind.has_start:
        # A client that wrote "now" did so some time ago.
        start = now if start is None else max(start, now)
    if end is not None and duration is None:
        duration = end - (now if start is None else start)
        if duration <= 0:
            raise InvalidValueError("end_date", "must be later than the start and than now")
    if duration is None:
        if kind is not LeaseKind.BEST_EFFORT:
            raise InvalidValueError("duration", f"{kind.value} leases need a duration or an end")
        duration = UNLIMITED
    return (start if kind.has_start else None), duration


def _node_sets(reservation: Document, pool: Pool, field: str, project_id: str) -> list[tuple[NodeSet, int]]:
    """Return the node sets of a reservation, each with the fewest nodes that suffice."""
    resource_type = reservation["resource_type"]
    if reservation.get("nodes"):
        return [
            (node_set_of(nodes, pool, f"{field}.nodes[{index}]"), nodes.get("least") or nodes["count"])
            for index, nodes in enumerate(reservation["nodes"])
        ]
    if resource_type == "physical:host":
        return [_whole_hosts(reservation, pool)]
    if resource_type == "virtual:instance":
        resources = {
            VCPU: reservation["vcpus"],
            MEMORY_MB: reservation["memory_mb"],
            DISK_GB: reservation["disk_gb"] + (reservation.get("ephemeral_gb") or 0),
        }
        more = extra_needs(reservation.get("extra_specs") or {}, f"{field}.extra_specs")
        hosts = pool.matching(parse_query(reservation.get("resource_properties") or ""))
        return [_instances(Needs({**resources, **more.resources}, more.traits), pool, hosts, reservation)]
    if resource_type == "flavor:instance":
        flavor = pool.flavors.get(reservation["flavor_id"])
        # As in Nova, a private flavor of another project looks like one that does not exist.
        if flavor is None or not flavor.is_for(project_id):
            raise InvalidValueError(f"{field}.flavor_id", f"there is no flavor {reservation['flavor_id']}")
        needs = Needs(flavor.resources, flavor.traits, flavor.groups)
        return [_instances(needs, pool, None, reservation)]
    if resource_type == "virtual:floatingip":
        return _addresses(reservation, pool, field)
    raise InvalidValueError(f"{field}.resource_type", f"{resource_type} is not a resource type that can be leased")


def _whole_hosts(reservation: Document, pool: Pool) -> tuple[NodeSet, int]:
    hosts = pool.matching(
        parse_query(reservation.get("hypervisor_properties") or ""),
        parse_query(reservation.get("resource_properties") or ""),
    )
    if reservation.get("hosts"):
        named = frozenset(reservation["hosts"])
        hosts = named if hosts is None else hosts & named
    return NodeSet(reservation["max"], Resources({HOST_SHARE: WHOLE_HOST}), hosts=hosts), reservation["min"]


def _instances(needs: Needs, pool: Pool, hosts: frozenset[str] | None, reservation: Document) -> tuple[NodeSet, int]:
    """Return the node set of some instances, and the fewest nodes that suffice.

    With affinity, it has one node, large enough for all instances. With anti-affinity, a host gets at most one node.
    """
    amount, affinity = reservation["amount"], reservation.get("affinity")
    divided = divide(needs, pool.nested)
    each = {**divided.resources, HOST_SHARE: 1}
    if affinity is True:
        together = {name: needed * amount for name, needed in each.items()}
        return NodeSet(1, Resources(together), divided.traits, hosts, groups=divided.groups * amount), 1
    per_host = 1 if affinity is False else None
    return NodeSet(amount, Resources(each), divided.traits, hosts, per_host, groups=divided.groups), amount


def _addresses(reservation: Document, pool: Pool, field: str) -> list[tuple[NodeSet, int]]:
    of_network = frozenset(
        ip.floating_ip_address
        for ip in pool.floating_ips
        if ip.floating_network_id == reservation["network_id"] and ip.reservable
    )
    required = list(reservation.get("required_floatingips") or ())
    unknown = [each for each in required if each not in of_network]
    if unknown:
        raise InvalidValueError(
            f"{field}.required_floatingips",
            f"the site has no floating IP {', '.join(unknown)} to reserve in network {reservation['network_id']}; "
            "leave it out to get any",
        )
    one = Resources({FLOATING_IP: 1})
    sets = [(NodeSet(1, one, hosts=frozenset({each})), 1) for each in required]
    rest = reservation["amount"] - len(required)
    if rest > 0:
        sets.append((NodeSet(rest, one, hosts=of_network - set(required)), rest))
    return sets


def node_set_of(nodes: Document, pool: Pool, field: str) -> NodeSet:
    """Return a node set of a lease document.

    :param field: name of the field in messages
    :raises InvalidValueError: naming the key
    """
    hosts = pool.matching(parse_query(nodes.get("properties") or ""))
    if nodes.get("hosts"):
        named = frozenset(nodes["hosts"])
        unknown = named - {host.name for host in pool.hosts}
        if unknown:
            raise InvalidValueError(f"{field}.hosts", f"there is no host {', '.join(sorted(unknown))} in the pool")
        hosts = named if hosts is None else hosts & named
    groups = groups_of(nodes.get("groups") or (), f"{field}.groups")
    needs = divide(Needs(nodes.get("resources") or {}, frozenset(nodes.get("traits") or ()), groups), pool.nested)
    resources = Resources({**needs.resources, HOST_SHARE: WHOLE_HOST if nodes.get("exclusive") else 1})
    least = divided_least(nodes.get("least_resources"), needs, f"{field}.least_resources")
    return NodeSet(
        nodes["count"],
        resources,
        needs.traits,
        hosts,
        nodes.get("per_host"),
        least_resources=least,
        groups=needs.groups,
    )


def with_count(reservation: Document, nodes: int) -> dict[str, Any]:
    """Return the keys of a reservation that give its number of nodes."""
    if reservation.get("nodes"):
        (node_set,) = reservation["nodes"]
        return {"nodes": [{**node_set, "count": nodes, "least": None}]}
    if "max" in reservation:
        return {"min": nodes, "max": nodes}
    return {"amount": nodes}


def numbered(document: LeaseDocument, request: LeaseRequest) -> LeaseDocument:
    """Return the document with the granted number of nodes for each reservation."""
    reservations: list[ReservationRecord] = []
    first_set = first_node = 0
    for reservation in document.reservations:
        of_it = request.nodes[first_set : first_set + reservation.node_sets]
        count = sum(node_set.count for node_set in of_it)
        reservations.append(replace(reservation, first_node=first_node, node_count=count))
        first_set += reservation.node_sets
        first_node += count
    return replace(document, reservations=tuple(reservations))


def lease_document(lease: Lease, document: LeaseDocument) -> dict[str, Any]:
    """Return a live lease as a lease document, in the form of a request."""
    request = lease.request
    fixed = lease.kind is LeaseKind.RESERVATION
    return {
        **asked_values(request, document),
        "id": lease.lease_id,
        "kind": lease.kind.value,
        "start": request.start,
        "end": request.start + request.duration if fixed and request.start is not None else None,
        "duration": None if fixed else request.duration,
        "deadline": request.deadline,
        "before_end": document.before_end,
        "servers": list(document.servers),
        "reservations": [
            {**record.terms, "id": record.reservation_id, "resource_type": record.resource_type}
            for record in document.reservations
        ],
    }
