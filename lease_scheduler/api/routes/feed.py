"""The iCalendar feed."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import feed
from lease_scheduler.api.request import Route

ROUTES = (
    Route(
        "GET",
        "/v1/leases.ics",
        feed.show,
        "feed:get",
        200,
        "Leases as an iCalendar feed",
        since=mv.V1_11,
        content_type="text/calendar",
        conditional=True,
    ),
)
