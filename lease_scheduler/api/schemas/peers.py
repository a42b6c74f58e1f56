"""Peers: other sites and gateways that request leases here."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_50, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.peer_limits import ALL_PROJECTS

_KINDS: Schema = {
    "type": ["array", "null"],
    "items": {"type": "string", "enum": [kind.value for kind in LeaseKind]},
    "uniqueItems": True,
}
_LIMITS: dict[str, Schema] = {
    "kinds": _KINDS,
    "max_nodes": {"type": ["integer", "null"], "minimum": 0, "maximum": base.MAXIMUM_INTEGER},
    "max_share": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    "max_node_hours": {"type": ["number", "null"], "minimum": 0, "maximum": base.MAXIMUM_INTEGER},
    "max_offers": {"type": ["integer", "null"], "minimum": 0, "maximum": base.MAXIMUM_INTEGER},
    "max_cost": {"type": ["number", "null"], "minimum": 0, "maximum": base.MAXIMUM_INTEGER},
}
#: A list of ids, or all projects.
_PROJECTS: Schema = {
    **base.array(base.name(), 1_000, uniqueItems=True),
    "type": ["array", "string"],
    "pattern": f"^{ALL_PROJECTS}$",
}
_PEER: dict[str, Schema] = {
    "name": base.STRING,
    "leases": base.INTEGER,
    "nodes": base.INTEGER,
    "share": base.NUMBER,
    "node_hours": base.NUMBER,
    "offers": base.INTEGER,
    "cost": base.NUMBER,
}


def put(version: Version) -> Schema:
    """Return the schema of the body of PUT /peers/{peer}: all limits.

    What is left out or null is no limit; without ``projects``, the peer may request leases for its own project only.
    """
    return base.closed(_limits(version))


def one(version: Version) -> Schema:
    """Return the schema of the answer with one peer."""
    return base.wrapped("peer", _peer(version))


def several(version: Version) -> Schema:
    """Return the schema of the answer with a list of peers."""
    return base.wrapped("peers", base.array(_peer(version)))


def _limits(version: Version) -> dict[str, Schema]:
    return _LIMITS if version < V1_50 else {"projects": _PROJECTS, **_LIMITS}


def _peer(version: Version) -> Schema:
    return base.answer({**_PEER, "limits": base.answer(_limits(version))})
