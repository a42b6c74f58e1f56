"""Series: leases that repeat."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_36, Version
from lease_scheduler.api.schemas import base, leases
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /series."""
    rule = base.text(255, 1, examples=["FREQ=WEEKLY;BYDAY=MO;COUNT=10"])
    zone = {"time_zone": base.text(64, 1, examples=["Europe/Berlin"])} if version >= V1_36 else {}
    return base.closed({"name": leases.NAME, "rule": rule, **zone, "lease": leases.create(version)}, ["rule", "lease"])


def _series(version: Version) -> dict[str, Schema]:
    return {
        **({"time_zone": base.MAYBE_STRING} if version >= V1_36 else {}),
        "id": base.STRING,
        "name": base.STRING,
        "project_id": base.STRING,
        "user_id": base.STRING,
        "rule": base.STRING,
        "created_at": base.MAYBE_ISO_DATE,
    }


def created(version: Version) -> Schema:
    """Return the schema of the answer of POST /series."""
    refused = base.array(base.answer({"start": base.ISO_DATE, "message": base.STRING}))
    return base.wrapped(
        "series", base.answer({**_series(version), "leases": base.array(base.STRING), "refused": refused})
    )


def one(version: Version) -> Schema:
    """Return the schema of the answer with one series and the ids of its leases."""
    return base.wrapped("series", base.answer({**_series(version), "leases": base.array(base.STRING)}))


def several(version: Version) -> Schema:
    """Return the schema of the answer with all series."""
    return base.wrapped("series", base.array(base.answer(_series(version))))
