"""The calendar page's document."""

from __future__ import annotations

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.interfaces import Document
from lease_scheduler.api.request import Answer, ApiRequest

_DAY = 86_400
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
    return dates.parse_date(text, field, now, True)


def _nameless(lease: Document) -> Document:
    """A lease of another project: that it is there, and nothing of whose it is."""
    return {**lease, "name": "", "project_id": "", "reason": ""}
