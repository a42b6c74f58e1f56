"""Maintenances: times in which hosts are free of leases."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base, leases
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Body of POST /maintenances; hosts by name or id."""
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
    """Answer with one maintenance, which is a lease."""
    return base.wrapped("maintenance", leases.lease(version))


def several(version: Version) -> Schema:
    """Answer with all maintenances."""
    return base.wrapped("maintenances", base.array(leases.lease(version)))
