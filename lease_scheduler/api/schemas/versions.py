"""Version documents."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema

_VERSION = base.answer(
    {
        "id": base.STRING,
        "status": base.STRING,
        "min_version": base.STRING,
        "max_version": base.STRING,
        "links": base.array(base.answer({"href": base.STRING, "rel": base.STRING})),
    }
)


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /v1."""
    del version
    return base.wrapped("version", _VERSION)


def several(version: Version) -> Schema:
    """Return the schema of the answer of GET / and GET /versions."""
    del version
    return base.wrapped("versions", base.array(_VERSION))
