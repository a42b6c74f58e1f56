"""Usage: what projects occupied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.handlers.listing import wanted_projects
from lease_scheduler.api.microversions import V1_12, V1_14, V1_15
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document

_DAY = 86_400
_MONTH = 30 * _DAY
_MISSED = ("undercharged", "rejected", "rejected_by_user")

#: Named lengths of steps, in seconds.
_INTERVALS = {"day": _DAY, "hour": 3_600}

#: Maximum number of steps in one answer: three years of days, or six weeks of hours.
_MAXIMUM_STEPS = 1_100


def show(request: ApiRequest) -> Answer:
    """Show node-hours, resource-hours and revenue of one project or of all projects."""
    query, now = request.query, request.now
    project_id = wanted_projects(request, "usage:all_projects")
    end = dates.parse_date(query["end"], "end", now, request.version) if "end" in query else now
    start = dates.parse_date(query["start"], "start", now, request.version) if "start" in query else end - _MONTH
    if end <= max(0, start):
        raise ApiError(400, "end: must be later than start", "end")
    # There are no leases before the epoch.
    start = max(0, start)
    step = _step(query["interval"], start, end) if "interval" in query else None
    rows = request.reader.usage(project_id, start, end, now, step)
    # Without an explicit end, leases that ended in the present second count too.
    until = end if "end" in query else end + 1
    money: list[Document] = []
    if request.version >= V1_12:
        money = request.reader.revenue(project_id, start, until, step)
        if step is not None:
            last = max(start, (end - 1) - (end - 1) % step)
            money = [{**row, "start": min(row["start"], last)} for row in money]
    delays = request.reader.delays(project_id, start, until) if request.version >= V1_14 else []
    broken = request.reader.penalties(project_id, start, until) if request.version >= V1_15 else []
    used_by, paid_by, waited_by, broken_by = (_grouped(each, "project_id") for each in (rows, money, delays, broken))
    wanted = {project_id} if project_id is not None else set()
    projects = sorted(used_by.keys() | paid_by.keys() | waited_by.keys() | broken_by.keys() | wanted)
    usage = [_project(name, used_by[name]) for name in projects]
    body: Document = {"start": dates.iso_date(start), "end": dates.iso_date(end), "usage": usage}
    if request.version >= V1_12:
        for project in usage:
            project["revenue"] = _revenue(paid_by[project["project_id"]])
    if request.version >= V1_14:
        for project in usage:
            _add_delays(project["kinds"], waited_by[project["project_id"]])
    if request.version >= V1_15:
        for project in usage:
            _add_breaches(project, broken_by[project["project_id"]])
    if step is not None:
        body["interval"] = step
        for project in usage:
            name = project["project_id"]
            project["history"] = _history(used_by[name], paid_by[name], end, step)
        if project_id is None:
            used = _grouped(rows, "start")
            capacity = request.reader.capacity(start, end, step)
            body["history"] = [_total_step(entry, used[entry["start"]]) for entry in capacity]
    return Answer(body)


def _step(interval: str, start: int, end: int) -> int:
    step = _INTERVALS.get(interval) or int(interval)
    if end // step - start // step >= _MAXIMUM_STEPS:
        problem = f"interval: there would be more than {_MAXIMUM_STEPS} steps; take longer ones or ask for less time"
        raise ApiError(400, problem, "interval")
    return step


def _grouped(rows: Iterable[Document], key: str) -> defaultdict[Any, list[Document]]:
    """Return the rows by their value for a key."""
    found: defaultdict[Any, list[Document]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found


def _project(project_id: str, rows: list[Document]) -> Document:
    kinds = sorted({row["kind"] for row in rows})
    return {
        "project_id": project_id,
        **_hours(rows),
        "kinds": {kind: _hours(row for row in rows if row["kind"] == kind) for kind in kinds},
    }


def _add_delays(kinds: Document, delays: Iterable[Document]) -> None:
    """Add to each kind how many leases of a project were done, and how long they had waited."""
    known = {row["kind"]: row for row in delays}
    for kind in sorted(known.keys() - kinds.keys()):
        kinds[kind] = _hours([])
    for kind, hours in kinds.items():
        row = known.get(kind, {})
        hours["done"] = row.get("done", 0)
        for name in ("mean_wait", "mean_bounded_slowdown"):
            value = row.get(name)
            hours[name] = None if value is None else round(value, 4)


def _history(rows: list[Document], money: list[Document], end: int, step: int) -> list[Document]:
    """Return the steps in which a project used something, or in which revenue was earned or missed."""
    used, earned = _grouped(rows, "start"), _grouped(money, "start")
    return [
        {
            "start": dates.iso_date(beginning),
            "end": dates.iso_date(min(end, beginning - beginning % step + step)),
            **_hours(used[beginning]),
            "revenue": _revenue(earned[beginning]),
        }
        for beginning in sorted({*used, *earned})
    ]


def _total_step(entry: Document, rows: list[Document]) -> Document:
    """Return a step of all projects together, with the capacity of the pool."""
    return {
        "start": dates.iso_date(entry["start"]),
        "end": dates.iso_date(entry["end"]),
        **_hours(rows),
        "capacity_hours": _in_hours(entry["resource_seconds"]),
    }


def _revenue(rows: Sequence[Document]) -> Document:
    """Return the revenue: what was earned, and what was missed, by reason."""
    earned, *missed = (round(sum(row[name] for row in rows), 6) for name in ("earned", *_MISSED))
    return {
        "earned": float(earned),
        "missed": {name: float(value) for name, value in zip(_MISSED, missed, strict=True)},
    }


def _add_breaches(project: Document, rows: list[Document]) -> None:
    """Add the breaches by kind, the penalties, and the revenue after penalties."""
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
    return {"node_hours": round(nodes / 3_600, 4), "resource_hours": _in_hours(resources)}


def _in_hours(seconds: Document) -> Document:
    return {name: round(seconds[name] / 3_600, 4) for name in sorted(seconds)}
