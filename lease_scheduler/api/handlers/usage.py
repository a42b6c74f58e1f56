"""Usage: what projects occupied."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.handlers.listing import wanted_projects
from lease_scheduler.api.interfaces import Document
from lease_scheduler.api.microversions import V1_12, V1_15
from lease_scheduler.api.request import Answer, ApiRequest

_MONTH = 30 * 86_400
_MISSED = ("undercharged", "rejected", "rejected_by_user")


def show(request: ApiRequest) -> Answer:
    """Node-hours and resource-hours of one project or of all, and what was earned from them."""
    query, now = request.query, request.now
    project_id = wanted_projects(request, "usage:all_projects")
    end = dates.parse_date(query["end"], "end", now, True) if "end" in query else now
    start = dates.parse_date(query["start"], "start", now, True) if "start" in query else end - _MONTH
    if end <= start:
        raise ApiError(400, "end: must be later than start", "end")
    rows = request.reader.usage(project_id, start, end, now)
    money, broken = dict[str, Document](), list[Document]()
    # What is over in this very second counts, unless somebody says where to end.
    until = end if "end" in query else end + 1
    if request.version >= V1_12:
        money = {row["project_id"]: row for row in request.reader.revenue(project_id, start, until)}
    if request.version >= V1_15:
        broken = request.reader.penalties(project_id, start, until)
    wanted = {project_id} if project_id is not None else set()
    projects = sorted({row["project_id"] for row in rows} | set(money) | {row["project_id"] for row in broken} | wanted)
    usage = [_project(name, [row for row in rows if row["project_id"] == name]) for name in projects]
    if request.version >= V1_12:
        for project in usage:
            project["revenue"] = _revenue(money.get(project["project_id"], {}))
    if request.version >= V1_15:
        for project in usage:
            _add_breaches(project, [row for row in broken if row["project_id"] == project["project_id"]])
    return Answer({"start": dates.iso_date(start), "end": dates.iso_date(end), "usage": usage})


def _project(project_id: str, rows: list[Document]) -> Document:
    kinds = sorted({row["kind"] for row in rows})
    return {
        "project_id": project_id,
        **_hours(rows),
        "kinds": {kind: _hours(row for row in rows if row["kind"] == kind) for kind in kinds},
    }


def _revenue(row: Document) -> Document:
    """What was earned, and what was missed and why."""
    earned, *missed = (round(row.get(name, 0.0), 6) for name in ("earned", *_MISSED))
    return {"earned": earned, "missed": dict(zip(_MISSED, missed, strict=True))}


def _add_breaches(project: Document, rows: list[Document]) -> None:
    """Terms that were not kept, by kind, and what remains of what was earned."""
    project["breaches"] = {
        row["kind"]: {
            "count": row["count"],
            "node_hours": round(row["node_seconds"] / 3_600, 4),
            "penalty": round(row["penalty"], 6),
        }
        for row in rows
    }
    penalties = sum(row["penalty"] for row in rows)
    revenue = project["revenue"]
    revenue |= {"penalties": round(penalties, 6), "net": round(revenue["earned"] - penalties, 6)}


def _hours(rows: Iterable[Document]) -> Document:
    nodes, resources = 0, dict[str, int]()
    for row in rows:
        nodes += row["node_seconds"]
        for name, amount in row["resource_seconds"].items():
            resources[name] = resources.get(name, 0) + amount
    return {
        "node_hours": round(nodes / 3_600, 4),
        "resource_hours": {name: round(resources[name] / 3_600, 4) for name in sorted(resources)},
    }
