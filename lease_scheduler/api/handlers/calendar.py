"""The calendar page's document."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_2
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document

_DAY = 86_400
#: Id and name of the row that shows when leases of other projects hold something.
_OTHERS = "other projects"
#: Longest span of one calendar, in seconds.
_MAXIMUM_SPAN = 366 * _DAY
_LARGEST_INSTANT = 253_402_300_799


def show(request: ApiRequest) -> Answer:
    """Show hosts, leases, which lease has which host when, and what the caller may do."""
    query, now = request.query, request.now
    start = _instant(query["start"], "start", now) if "start" in query else now - _DAY
    end = _instant(query["end"], "end", now) if "end" in query else start + 7 * _DAY
    if not start < end <= start + _MAXIMUM_SPAN:
        raise ApiError(400, "end: must be later than start, by 366 days at most", "end")
    since = query.get("since") if request.sees_site else None
    found = request.reader.calendar(start, end, since)
    is_news = found["complete"] or found["revision"] != since
    project_id = request.caller.project_id
    leases = [{**lease, "may_change": request.may("leases:action", lease["project_id"])} for lease in found["leases"]]
    if not request.sees_site:
        shown = private_calendar({**found, "leases": leases}, project_id, now)
    else:
        everything = request.may("calendar:get_names")
        shown = {key: found[key] for key in ("revision", "complete", "hosts", "removed")}
        shown["leases"] = [
            lease if everything or lease["project_id"] == project_id else _nameless(lease) for lease in leases
        ]
    return Answer(
        {
            "now": now,
            **shown,
            "project": _own_project(request),
            "may_book": request.may("quotes:post") and request.may("leases:post"),
            "states": request.reader.lease_states(None if request.sees_site else project_id) if is_news else None,
        }
    )


def _own_project(request: ApiRequest) -> Document | None:
    """Return id and name of the caller's project; None if identity is not checked, since nobody then has a project."""
    if request.services.settings.auth == "noauth":
        return None
    return {"id": request.caller.project_id, "name": request.caller.project_name or request.caller.project_id}


def _instant(text: str, field: str, now: int) -> int:
    if text.isascii() and text.isdigit():
        if len(text) > len(str(_LARGEST_INSTANT)) or int(text) > _LARGEST_INSTANT:
            raise ApiError(400, f"{field}: must be at most {_LARGEST_INSTANT}", field)
        return int(text)
    # The calendar accepts ISO 8601 dates at every microversion; leases accept them from 1.2 on.
    return dates.parse_date(text, field, now, V1_2)


def _nameless(lease: Document) -> Document:
    """Return a lease of another project without its name, project and reason."""
    return {**lease, "name": "", "project_id": "", "reason": ""}


def private_calendar(found: Document, project_id: str, now: int) -> Document:
    """Return the calendar of one project: its leases with their hosts, and when others keep the site busy.

    All other projects share one row. Instead of their leases, it has one bar for each span of time in which any of
    these leases holds something.
    """
    own = [lease for lease in found["leases"] if lease["project_id"] == project_id]
    hosts = {host for lease in own for part in (*lease["holdings"], *lease["past"]) for host in part["hosts"]}
    spans = [
        (part["start"], part["end"])
        for lease in found["leases"]
        if lease["project_id"] != project_id
        for part in (*lease["holdings"], *lease["past"])
    ]
    others = {"id": _OTHERS, "name": _OTHERS, "state": "up", "vcpus": 0, "memory_mb": 0}
    return {
        # Changes after a revision would have to be tracked by project, and the revision would reveal their number.
        "revision": 0,
        "complete": True,
        "hosts": [host for host in found["hosts"] if host["id"] in hosts] + ([others] if spans else []),
        "leases": own + [_busy(start, end, now) for start, end in merged(spans)],
        "removed": [],
    }


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in the order of their starts, merged where they overlap or touch, without empty ones."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


def _busy(start: int, end: int, now: int) -> Document:
    """Return a span in which leases of other projects hold something, in the form of a lease without details."""
    holding = {"start": start, "run_start": start, "run_end": end, "end": end, "closing": "shutdown"}
    state = "done" if end <= now else "active" if start <= now else "ready"
    return {
        "id": f"busy-{start}",
        "name": "",
        "project_id": "",
        "kind": "",
        "state": state,
        "reason": "",
        "submitted": start,
        "start": start,
        "end": end,
        "deadline": None,
        "offered_until": None,
        "duration": end - start,
        "accumulated": 0,
        "nodes": 0,
        "preemptible": False,
        "queue_position": None,
        "revision": 0,
        "may_change": False,
        "holdings": [{**holding, "hosts": [_OTHERS]}],
        "past": [],
    }
