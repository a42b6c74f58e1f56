"""The leases of a project as an iCalendar feed (RFC 5545)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.views.lease import is_endless
from lease_scheduler.model.blazar import lease_status
from lease_scheduler.model.documents import Document
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.dates import FIRST, LAST, utc

if TYPE_CHECKING:
    from icalendar import Event

CONTENT_TYPE = "text/calendar; charset=utf-8"
_DAY = 86_400
#: Seconds for which past leases stay in the feed.
_PAST = 90 * _DAY

#: States of leases that the project did not get or did not want.
_DEAD = frozenset({LeaseState.REJECTED, LeaseState.REJECTED_BY_USER, LeaseState.FAILED})

#: First and last instant of an event: dates of iCalendar have four digits, in every time zone.
_EARLIEST, _LATEST = FIRST + _DAY, LAST - _DAY


def show(request: ApiRequest) -> Answer:
    """Return the leases of the caller's project."""
    return leases_of(request, request.caller.project_id)


def leases_of(request: ApiRequest, project_id: str) -> Answer:
    """Return the leases of a project that have a start and an end, and ended at most 90 days ago.

    Leases that came to nothing stay as cancelled events, since calendars may already have them. Deleted leases are left
    out. Only private caches may store the answer, and they must revalidate it each time.
    """
    # Imported here because it takes long to load, and few requests are for the feed.
    from icalendar import Calendar

    calendar = Calendar()
    calendar.add("prodid", "-//OpenStack//lease-scheduler//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", f"Leases of {project_id}")
    after = request.now - _PAST
    for view in request.reader.leases({"project_id": project_id, "after": after}):
        if view["start"] is not None and view["end"] is not None and view["end"] > after:
            calendar.add_component(_event(view))
    body = calendar.to_ical()
    headers = {"Cache-Control": "private, no-cache", "ETag": f'"{sha256(body).hexdigest()}"'}
    return Answer(body, CONTENT_TYPE, headers)


def _event(view: Document) -> Event:
    from icalendar import Event

    event = Event()
    event.add("uid", f"{view['id']}@lease-scheduler")
    # Instants that have no date are written as the nearest one, but an event must end after it starts.
    start = min(max(view["start"], _EARLIEST), _LATEST - 1)
    end = min(max(view["end"], start + 1), _LATEST)
    event.add("dtstamp", utc(view["updated_at"] or view["created_at"]))
    event.add("dtstart", utc(start))
    if not is_endless(view):
        event.add("dtend", utc(end))
    event.add("summary", view["name"])
    event.add("description", f"{view['kind']} lease {view['id']}: {view['state']}{_remark(view)}")
    event.add("status", _status(view))
    # Grows with every change, so that calendars which already have the event take over its new status.
    event.add("sequence", view["version"])
    return event


def _remark(view: Document) -> str:
    """Return what the dates of an event do not say."""
    if is_endless(view):
        return "; it runs until somebody ends it"
    if view["preempted_at"] is not None and view["latest_end"] != view["end"]:
        return (
            f"; it is preempted at {iso_date(view['preempted_at'])}, and ends at the earliest at the end of this event"
        )
    return ""


def _status(view: Document) -> str:
    """Return the status of an event: cancelled if the lease never ran and never will, or failed."""
    state = LeaseState(view["state"])
    if state in _DEAD or (state in FINAL_STATES and view["started"] is None):
        return "CANCELLED"
    return "TENTATIVE" if lease_status(view["state"], view["operation"]) == "PENDING" else "CONFIRMED"
