"""Series: leases that repeat."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base, leases
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /series."""
    rule = base.text(255, 1, examples=["FREQ=WEEKLY;BYDAY=MO;COUNT=10"])
    return base.closed({"name": leases.NAME, "rule": rule, "lease": leases.create(version)}, ["rule", "lease"])


def _series() -> dict[str, Schema]:
    return {
        "id": base.STRING,
        "name": base.STRING,
        "project_id": base.STRING,
        "user_id": base.STRING,
        "rule": base.STRING,
        "created_at": base.MAYBE_ISO_DATE,
    }


def created(version: Version) -> Schema:
    """Return the schema of the answer of POST /series."""
    del version
    refused = base.array(base.answer({"start": base.ISO_DATE, "message": base.STRING}))
    return base.wrapped("series", base.answer({**_series(), "leases": base.array(base.STRING), "refused": refused}))


def one(version: Version) -> Schema:
    """Return the schema of the answer with one series and the ids of its leases."""
    del version
    return base.wrapped("series", base.answer({**_series(), "leases": base.array(base.STRING)}))


def several(version: Version) -> Schema:
    """Return the schema of the answer with all series."""
    del version
    return base.wrapped("series", base.array(base.answer(_series())))
