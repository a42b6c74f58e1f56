"""Events: what happened to leases, in one sequence."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema

QUERY = (
    base.Parameter("since", base.integer(0, 2**63 - 1), "Only events after this one: next of an earlier answer"),
    base.Parameter("limit", base.integer(0), "Maximum number of events; with 0 only next is of interest"),
    base.Parameter("all_projects", base.BOOLEAN, "Include the events of all projects"),
    base.Parameter("project_id", base.text(255, 1), "Only those of leases of this project"),
)


def several(version: Version) -> Schema:
    """Return the schema of the answer of GET /events."""
    del version
    event = base.answer(
        {
            "sequence": base.INTEGER,
            "time": base.ISO_DATE,
            "lease_id": base.STRING,
            "project_id": base.STRING,
            "from": base.STRING,
            "to": base.STRING,
            "reason": base.STRING,
        }
    )
    properties = {"events": base.array(event), "next": base.INTEGER, "more": base.BOOLEAN}
    return base.closed(properties, list(properties))
