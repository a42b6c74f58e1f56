"""Names of projects and users."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema


def of_lease(version: Version) -> Schema:
    """Return the schema of the answer of GET /leases/{id}/names."""
    del version
    names = {"project": base.MAYBE_STRING, "users": {"type": "object", "additionalProperties": base.STRING}}
    return base.wrapped("names", base.answer(names))


def projects(version: Version) -> Schema:
    """Return the schema of the answer of GET /projects."""
    del version
    return base.wrapped("projects", base.array(base.answer({"id": base.STRING, "name": base.STRING})))
