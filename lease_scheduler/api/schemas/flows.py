"""Flows: the projects among which the site is shared."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_28, V1_31, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema
from lease_scheduler.model.weights import LEAST_WEIGHT, MOST_WEIGHT

LIST_QUERY = (
    base.Parameter("all_projects", base.BOOLEAN, "Include all flows"),
    base.Parameter("project_id", base.text(255, 1), "Only the flow of this project"),
    base.Parameter("visible", base.BOOLEAN, "Include all flows that the caller may see", V1_28),
)

_WEIGHT: Schema = {
    "type": ["number", "null"],
    "minimum": LEAST_WEIGHT,
    "maximum": MOST_WEIGHT,
    "examples": [30],
}
_LEASE: dict[str, Schema] = {
    "lease_id": base.STRING,
    "position": base.INTEGER,
    "expected_start": base.MAYBE_ISO_DATE,
}
_FLOW: dict[str, Schema] = {
    "name": base.STRING,
    "policy": base.STRING,
    "weight": base.MAYBE_NUMBER,
    "weight_source": {"enum": ["set", "configured", "donated", "default"]},
    "share": base.MAYBE_NUMBER,
    "share_of_last_day": base.NUMBER,
    "owed_host_hours": base.NUMBER,
    "queued": base.INTEGER,
}


_HOUR: dict[str, Schema] = {"start": base.ISO_DATE, "share": base.MAYBE_NUMBER}


def _flow(version: Version) -> Schema:
    hours = {"hours": base.array(base.answer(_HOUR))} if version >= V1_28 else {}
    blocked = {"blocked": base.MAYBE_STRING} if version >= V1_31 else {}
    leases = {"leases": base.array(base.answer({**_LEASE, **blocked}))}
    return base.answer({**_FLOW, **leases, **hours})


def put(version: Version) -> Schema:
    """Return the schema of the body of PUT /flows/{flow}."""
    del version
    return base.closed({"weight": _WEIGHT}, ["weight"])


def one(version: Version) -> Schema:
    """Return the schema of the answer with one flow."""
    return base.wrapped("flow", _flow(version))


def several(version: Version) -> Schema:
    """Return the schema of the answer with a list of flows."""
    return base.wrapped("flows", base.array(_flow(version)))
