"""Events: what happened to leases, in one sequence, for programs that follow a site."""

from __future__ import annotations

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.handlers.listing import wanted_projects
from lease_scheduler.api.microversions import V1_50
from lease_scheduler.api.request import Answer, ApiRequest


def list_events(request: ApiRequest) -> Answer:
    """List the events after a number, oldest first, and the number to go on from."""
    project_id = wanted_projects(request, "events:all_projects")
    most = request.services.settings.maximum_page
    page = request.reader.events(
        request.query.get("since", 0), min(request.query.get("limit", most), most), project_id, _peer(request)
    )
    events = [
        {
            "sequence": event.sequence,
            "time": iso_date(event.transition.instant),
            "lease_id": event.transition.lease_id,
            "project_id": event.project_id,
            "from": event.transition.before,
            "to": event.transition.after,
            "reason": event.transition.reason,
        }
        for event in page.events
    ]
    return Answer({"events": events, "next": page.next, "more": page.more})


def _peer(request: ApiRequest) -> str | None:
    """Return the peer that is told the events of all its leases, or None if the caller asks for those of a project."""
    return request.caller.origin if request.version >= V1_50 and "project_id" not in request.query else None
