"""The calendar page's document."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_2
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document

_DAY = 86_400
#: Row of the times at which leases of other projects hold something.
_OTHERS = "other projects"
#: Longest span of one calendar.
_MAXIMUM_SPAN = 366 * _DAY
_LARGEST_INSTANT = 253_402_300_799


def show(request: ApiRequest) -> Answer:
    """Hosts, leases, and who has which host when."""
    query, now = request.query, request.now
    start = _instant(query["start"], "start", now) if "start" in query else now - _DAY
    end = _instant(query["end"], "end", now) if "end" in query else start + 7 * _DAY
    if not start < end <= start + _MAXIMUM_SPAN:
        raise ApiError(400, "end: must be later than start, by 366 days at most", "end")
    if not request.sees_site:
        found = request.reader.calendar(start, end, None)
        return Answer({"now": now, **private_calendar(found, request.caller.project_id, now)})
    found = request.reader.calendar(start, end, query.get("since"))
    everything = request.may("calendar:get_names")
    leases = [
        lease if everything or lease["project_id"] == request.caller.project_id else _nameless(lease)
        for lease in found["leases"]
    ]
    shown = {key: found[key] for key in ("revision", "complete", "hosts", "removed")}
    return Answer({"now": now, **shown, "leases": leases})


def _instant(text: str, field: str, now: int) -> int:
    if text.isascii() and text.isdigit():
        if len(text) > len(str(_LARGEST_INSTANT)) or int(text) > _LARGEST_INSTANT:
            raise ApiError(400, f"{field}: must be at most {_LARGEST_INSTANT}", field)
        return int(text)
    # The calendar takes ISO 8601 since it exists, which is longer than leases do.
    return dates.parse_date(text, field, now, V1_2)


def _nameless(lease: Document) -> Document:
    """A lease of another project: that it is there, and nothing of whose it is."""
    return {**lease, "name": "", "project_id": "", "reason": ""}


def private_calendar(found: Document, project_id: str, now: int) -> Document:
    """The calendar of a project: its leases and the hosts that they are on, and when others keep the site busy.

    The others are one row and no leases: as many bars as there are times at which some of them hold something.
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
        # What changed since then would have to be told apart for each project; it would also count the changes.
        "revision": 0,
        "complete": True,
        "hosts": [host for host in found["hosts"] if host["id"] in hosts] + ([others] if spans else []),
        "leases": own + [_busy(start, end, now) for start, end in merged(spans)],
        "removed": [],
    }


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans of time without overlaps or gaps of nothing between them, by their start."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


def _busy(start: int, end: int, now: int) -> Document:
    """A time at which the leases of others hold something, in the form of a lease of which nothing else is known."""
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
        "holdings": [{**holding, "hosts": [_OTHERS]}],
        "past": [],
    }
