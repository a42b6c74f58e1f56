"""Maintenances: times during which hosts are kept free of leases."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base, leases
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /maintenances. It names hosts by name or id."""
    del version
    return base.closed(
        {
            "name": leases.NAME,
            "start_date": base.DATE,
            "end_date": base.DATE,
            "duration": base.DURATION,
            "hosts": base.array(base.text(255, 1), 10_000, 1, uniqueItems=True),
        },
        ["name", "start_date", "hosts"],
    )


def one(version: Version) -> Schema:
    """Return the schema of the answer with one maintenance, which is a lease."""
    return base.wrapped("maintenance", leases.lease(version))


def several(version: Version) -> Schema:
    """Return the schema of the answer with all maintenances."""
    return base.wrapped("maintenances", base.array(leases.lease(version)))
