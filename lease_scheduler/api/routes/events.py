"""Events: what happened to leases, in one sequence."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import events
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import events as event_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/events",
        events.list_events,
        "events:get",
        200,
        "List what happened to leases since an earlier answer, in the order in which it happened",
        since=mv.V1_44,
        query=event_schemas.QUERY,
        answer=event_schemas.several,
    ),
)
