"""The leases of a project as an iCalendar feed (RFC 5545)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.blazar import lease_status
from lease_scheduler.model.documents import Document
from lease_scheduler.records.dates import LAST, utc

if TYPE_CHECKING:
    from icalendar import Event

CONTENT_TYPE = "text/calendar; charset=utf-8"
_DAY = 86_400
#: Seconds for which past leases stay in the feed.
_PAST = 90 * _DAY


def show(request: ApiRequest) -> Answer:
    """Return the leases of the caller's project that have a start and an end, and ended at most 90 days ago."""
    # Imported here because it takes long to load, and few requests are for the feed.
    from icalendar import Calendar

    calendar = Calendar()
    calendar.add("prodid", "-//OpenStack//lease-scheduler//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", f"Leases of {request.caller.project_id}")
    for view in request.reader.leases({"project_id": request.caller.project_id}):
        if view["start"] is not None and view["end"] is not None and view["end"] > request.now - _PAST:
            calendar.add_component(_event(view))
    return Answer(calendar.to_ical(), CONTENT_TYPE)


def _event(view: Document) -> Event:
    from icalendar import Event

    event = Event()
    event.add("uid", f"{view['id']}@lease-scheduler")
    # Instants after the last possible date are written as that date, but an event must end after it starts.
    start = min(view["start"], LAST - 1)
    event.add("dtstamp", utc(view["updated_at"] or view["created_at"]))
    event.add("dtstart", utc(start))
    event.add("dtend", utc(max(view["end"], start + 1)))
    event.add("summary", view["name"])
    event.add("description", f"{view['kind']} lease {view['id']}: {view['state']}")
    event.add("status", "TENTATIVE" if lease_status(view["state"], view["operation"]) == "PENDING" else "CONFIRMED")
    event.add("sequence", view["version"])
    return event
