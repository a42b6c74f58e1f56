"""Quotes: what a lease would come to."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_12, Version
from lease_scheduler.api.schemas import base, leases
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Body of POST /quotes."""
    lease = leases.create(version)
    if version < V1_12:
        return lease
    return {**lease, "properties": {**lease["properties"], "hold": base.BOOLEAN}}


def one(version: Version) -> Schema:
    """Answer of POST /quotes."""
    properties: dict[str, Schema] = {
        "granted": base.BOOLEAN,
        "reason": base.STRING,
        "start": base.MAYBE_ISO_DATE,
        "end": base.MAYBE_ISO_DATE,
        "hosts": base.array(base.STRING),
        "preempts": base.array(base.STRING),
        "preempted": base.INTEGER,
        "alternatives": base.array(base.ALTERNATIVE),
        "queue_position": base.MAYBE_INTEGER,
    }
    required = ["granted", "reason", "start", "end", "preempts", "preempted", "alternatives"]
    if version >= V1_12:
        held: dict[str, Schema] = {
            "price": base.MAYBE_NUMBER,
            "lease_id": base.MAYBE_STRING,
            "expires_at": base.MAYBE_ISO_DATE,
        }
        properties |= held
        required += list(held)
    return base.wrapped("quote", base.closed(properties, required))
