"""Usage: what projects occupied."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_12, V1_15, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema

QUERY = (
    Parameter("project_id", base.text(255, 1), "Of this project; default: one's own."),
    Parameter("all_projects", base.BOOLEAN, "Of all projects; administrators only."),
    Parameter("start", base.DATE, "From here on; default: 30 days before the end."),
    Parameter("end", base.DATE, "Up to here; default: now."),
)


def several(version: Version) -> Schema:
    """Answer of GET /usage."""
    hours: dict[str, Schema] = {
        "node_hours": base.NUMBER,
        "resource_hours": {"type": "object", "additionalProperties": base.NUMBER},
    }
    project: dict[str, Schema] = {
        "project_id": base.STRING,
        **hours,
        "kinds": {"type": "object", "additionalProperties": base.answer(hours)},
    }
    if version >= V1_12:
        missed = dict.fromkeys(("undercharged", "rejected", "rejected_by_user"), base.NUMBER)
        project["revenue"] = base.answer({"earned": base.NUMBER, "missed": base.answer(missed)})
    if version >= V1_15:
        breach = base.answer({"count": base.INTEGER, "node_hours": base.NUMBER, "penalty": base.NUMBER})
        project["revenue"] = base.answer(
            {"earned": base.NUMBER, "missed": base.answer(missed), "penalties": base.NUMBER, "net": base.NUMBER}
        )
        project["breaches"] = {"type": "object", "additionalProperties": breach}
    usage = base.array(base.answer(project))
    return base.answer({"start": base.ISO_DATE, "end": base.ISO_DATE, "usage": usage})
