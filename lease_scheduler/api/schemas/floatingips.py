"""Floating IP addresses that can be reserved."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_26, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /floatingips."""
    return base.closed(
        {
            "floating_network_id": base.text(255, 1),
            "floating_ip_address": base.text(64, 1, anyOf=[{"format": "ipv4"}, {"format": "ipv6"}]),
            **({"pool": base.text(64, 1)} if version >= V1_26 else {}),
        },
        ["floating_network_id", "floating_ip_address"],
    )


def _floating_ip(version: Version) -> Schema:
    properties: dict[str, Schema] = {
        "id": base.STRING,
        "floating_network_id": base.STRING,
        "subnet_id": base.MAYBE_STRING,
        "floating_ip_address": base.STRING,
        "reservable": base.BOOLEAN,
        "created_at": base.ROW_DATE,
        "updated_at": base.ROW_DATE,
    }
    return base.answer({**properties, "pool": base.MAYBE_STRING} if version >= V1_26 else properties)


def one(version: Version) -> Schema:
    """Return the schema of the answer with one address."""
    return base.wrapped("floatingip", _floating_ip(version))


def several(version: Version) -> Schema:
    """Return the schema of the answer with all addresses."""
    return base.wrapped("floatingips", base.array(_floating_ip(version)))
