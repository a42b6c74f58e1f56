"""Peers: other sites and gateways that request leases here."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema
from lease_scheduler.model.kinds import LeaseKind

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
_PEER: dict[str, Schema] = {
    "name": base.STRING,
    "limits": base.answer(_LIMITS),
    "leases": base.INTEGER,
    "nodes": base.INTEGER,
    "share": base.NUMBER,
    "node_hours": base.NUMBER,
    "offers": base.INTEGER,
    "cost": base.NUMBER,
}


def put(version: Version) -> Schema:
    """Return the schema of the body of PUT /peers/{peer}: all limits; what is left out or null is no limit."""
    del version
    return base.closed(_LIMITS)


def one(version: Version) -> Schema:
    """Return the schema of the answer with one peer."""
    del version
    return base.wrapped("peer", base.answer(_PEER))


def several(version: Version) -> Schema:
    """Return the schema of the answer with a list of peers."""
    del version
    return base.wrapped("peers", base.array(base.answer(_PEER)))
