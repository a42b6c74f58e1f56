"""The calendar page."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import calendar
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import calendar as calendar_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/calendar",
        calendar.show,
        "calendar:get",
        200,
        "Show hosts and leases for the calendar page",
        since=mv.V1_1,
        query=calendar_schemas.QUERY,
        answer=calendar_schemas.one,
    ),
)
