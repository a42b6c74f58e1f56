"""Budgets: what a project may still use."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema

QUERY = (Parameter("project_id", base.text(255, 1), "Budgets of this project; default: the caller's project."),)

#: The budgets of a project by period and measure; null if the site has none.
LINES: Schema = {
    "type": ["array", "null"],
    "items": base.answer(
        {
            "start": base.ISO_DATE,
            "end": base.ISO_DATE,
            "measure": base.STRING,
            **dict.fromkeys(("limit", "used", "reserved", "requested", "left"), base.NUMBER),
        }
    ),
}


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /v1/budget."""
    del version
    return base.wrapped("budget", base.answer({"project_id": base.STRING, "lines": LINES}))
