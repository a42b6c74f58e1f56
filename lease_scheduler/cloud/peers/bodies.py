"""Terms of leases as bodies of requests to the REST interface of another site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lease_scheduler.cloud.peers.dates import date_of
from lease_scheduler.federation.asks import Ask
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources

#: Keys of a reservation that give the size of its nodes.
_SIZES = {VCPU: "vcpus", MEMORY_MB: "memory_mb", DISK_GB: "disk_gb"}


def body_of(terms: LeaseRequest) -> dict[str, Any]:
    """Return the body of a request for a lease, without its id.

    :raises InvalidValueError: naming what only has a meaning at the site that the terms were made for
    """
    if terms.software is not None or terms.image_ids:
        raise InvalidValueError("software", "names a disk image, and images of sites are not mapped to each other")
    if terms.moves_others:
        raise InvalidValueError("moves_others", "is for maintenance of the own site")
    optional: dict[str, Any] = {
        "max_price": terms.max_price,
        "pool": terms.pool,
        "min_lifetime": terms.min_lifetime,
        "assurance": terms.assurance,
        "await_assurance": terms.await_assurance or None,
        "min_yield": terms.min_yield,
        "extras": dict(terms.extras) or None,
        # The mode that leases have by default depends on whether they are preemptible.
        "preemption_mode": terms.preemption_mode.value if terms.preemptible else None,
    }
    return {
        "name": terms.lease_id,
        "kind": terms.kind.value,
        "nodes": [_nodes(each, f"nodes[{number}]") for number, each in enumerate(terms.nodes)],
        "preemptible": terms.preemptible,
        **times_of(terms),
        **{key: value for key, value in optional.items() if value is not None},
    }


def passing_of(ask: Ask) -> dict[str, Any]:
    """Return the keys that say for whom a peer asks, and who has passed the ask on."""
    found: dict[str, Any] = {"path": list(ask.path)} if ask.path else {}
    if ask.on_behalf_of is not None:
        party = asdict(ask.on_behalf_of)
        found["on_behalf_of"] = {key: value for key, value in party.items() if value is not None}
    return found


def times_of(terms: LeaseRequest) -> dict[str, Any]:
    """Return the keys that say when a lease runs."""
    found: dict[str, Any] = {}
    if terms.start is not None:
        found["start_date"] = date_of(terms.start)
    if terms.kind is LeaseKind.RESERVATION:
        assert terms.start is not None
        found["end_date"] = date_of(terms.start + terms.duration)
    elif terms.duration < UNLIMITED:
        found["duration"] = terms.duration
    if terms.deadline is not None:
        found["deadline"] = date_of(terms.deadline)
    return found


def changes_of(terms: LeaseRequest, reservations: Sequence[Document]) -> dict[str, Any]:
    """Return the body of a request that gives a lease these terms.

    :param reservations: its present reservations, as the site shows them
    :raises InvalidValueError: naming what cannot be changed
    """
    if len(reservations) != len(terms.nodes):
        raise InvalidValueError("nodes", f"must be {len(reservations)} node sets as before, not {len(terms.nodes)}")
    changed = [
        each
        for number, (node_set, present) in enumerate(zip(terms.nodes, reservations, strict=True))
        if len(each := _changed(node_set, present, f"nodes[{number}]")) > 1
    ]
    found = times_of(terms)
    if changed:
        found["reservations"] = changed
    if terms.max_price is not None:
        found["max_price"] = terms.max_price
    return found


def _nodes(node_set: NodeSet, field: str) -> dict[str, Any]:
    if node_set.hosts is not None:
        raise InvalidValueError(f"{field}.hosts", "names hosts of another site")
    if node_set.boots or node_set.count_range is not None:
        raise InvalidValueError(field, "has images or a range of counts, which the REST interface does not take")
    found: dict[str, Any] = {"count": node_set.count}
    size = _size(node_set)
    if size:
        found["resources"] = size
    if node_set.resources.get(HOST_SHARE) == WHOLE_HOST:
        found["exclusive"] = True
    if node_set.required_traits:
        found["traits"] = sorted(node_set.required_traits)
    if node_set.per_host is not None:
        found["per_host"] = node_set.per_host
    if node_set.least_resources is not None:
        found["least_resources"] = _shown(node_set.least_resources)
    if node_set.groups:
        found["groups"] = [
            {"resources": dict(group.resources), **({"traits": sorted(group.traits)} if group.traits else {})}
            for group in node_set.groups
        ]
    return found


def _size(node_set: NodeSet) -> dict[str, int]:
    """Return what each node needs, with the VCPU that a fluid one shares, as the client asks for it."""
    fluid = {VCPU: node_set.resources.get(VCPU, 0) + node_set.fluid} if node_set.fluid else {}
    return {**_shown(node_set.resources), **fluid}


def _shown(resources: Resources) -> dict[str, int]:
    return {name: amount for name, amount in resources.items() if name != HOST_SHARE}


def _changed(node_set: NodeSet, present: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return the id of a reservation, and what changes of it."""
    found: dict[str, Any] = {"id": present["id"]}
    if present.get("amount") is not None and present["amount"] != node_set.count:
        found["amount"] = node_set.count
    if present.get("max") is not None and present["max"] != node_set.count:
        found |= {"min": node_set.count, "max": node_set.count}
    size, before = _size(node_set), present.get("resources") or {}
    for name in sorted(size.keys() | before.keys()):
        if size.get(name, 0) == before.get(name, 0):
            continue
        if name not in _SIZES:
            raise InvalidValueError(f"{field}.resources.{name}", "cannot be changed; request another lease")
        found[_SIZES[name]] = size.get(name, 0)
    return found
