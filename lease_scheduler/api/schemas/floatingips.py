"""Floating IP addresses that can be reserved."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /floatingips."""
    del version
    return base.closed(
        {
            "floating_network_id": base.text(255, 1),
            "floating_ip_address": base.text(64, 1, anyOf=[{"format": "ipv4"}, {"format": "ipv6"}]),
        },
        ["floating_network_id", "floating_ip_address"],
    )


_FLOATING_IP = base.answer(
    {
        "id": base.STRING,
        "floating_network_id": base.STRING,
        "subnet_id": base.MAYBE_STRING,
        "floating_ip_address": base.STRING,
        "reservable": base.BOOLEAN,
        "created_at": base.ROW_DATE,
        "updated_at": base.ROW_DATE,
    }
)


def one(version: Version) -> Schema:
    """Return the schema of the answer with one address."""
    del version
    return base.wrapped("floatingip", _FLOATING_IP)


def several(version: Version) -> Schema:
    """Return the schema of the answer with all addresses."""
    del version
    return base.wrapped("floatingips", base.array(_FLOATING_IP))
