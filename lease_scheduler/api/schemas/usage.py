"""Usage: what projects occupied."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_12, V1_14, V1_15, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema

QUERY = (
    Parameter("project_id", base.text(255, 1), "Usage of this project; default: the caller's project."),
    Parameter("all_projects", base.BOOLEAN, "Usage of all projects; administrators only."),
    Parameter("start", base.DATE, "Start of the period; default: 30 days before its end."),
    Parameter("end", base.DATE, "End of the period; default: now."),
    Parameter(
        "interval",
        base.text(7, 1, pattern="^(day|hour|[1-9][0-9]{0,6})$", examples=["day"]),
        "Also return the usage in steps of this length: day, hour (both in UTC), or a number of seconds.",
        since=V1_14,
    ),
)


def several(version: Version) -> Schema:
    """Return the schema of the answer of GET /usage."""
    hours: dict[str, Schema] = {
        "node_hours": base.NUMBER,
        "resource_hours": {"type": "object", "additionalProperties": base.NUMBER},
    }
    kind = dict(hours)
    if version >= V1_14:
        kind |= {
            "done": base.INTEGER,
            "mean_wait": base.MAYBE_NUMBER,
            "mean_bounded_slowdown": base.MAYBE_NUMBER,
        }
    project: dict[str, Schema] = {
        "project_id": base.STRING,
        **hours,
        "kinds": {"type": "object", "additionalProperties": base.answer(kind)},
    }
    if version >= V1_12:
        missed = dict.fromkeys(("undercharged", "rejected", "rejected_by_user"), base.NUMBER)
        project["revenue"] = base.answer({"earned": base.NUMBER, "missed": base.answer(missed)})
    properties = {"start": base.ISO_DATE, "end": base.ISO_DATE}
    revenue = project.get("revenue", {})
    if version >= V1_15:
        breach = base.answer({"count": base.INTEGER, "node_hours": base.NUMBER, "penalty": base.NUMBER})
        project["revenue"] = base.answer(
            {"earned": base.NUMBER, "missed": base.answer(missed), "penalties": base.NUMBER, "net": base.NUMBER}
        )
        project["breaches"] = {"type": "object", "additionalProperties": breach}
    if version < V1_14:
        return base.answer({**properties, "usage": base.array(base.answer(project))})
    of_project = base.answer({**properties, **hours, "revenue": revenue})
    in_all = base.answer({**properties, **hours, "capacity_hours": hours["resource_hours"]})
    usage = base.array(base.closed({**project, "history": base.array(of_project)}, list(project)))
    return base.closed(
        {**properties, "usage": usage, "interval": base.INTEGER, "history": base.array(in_all)},
        [*properties, "usage"],
    )
