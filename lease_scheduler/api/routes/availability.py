"""Availability."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import availability
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import availability as availability_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/availability",
        availability.show,
        "availability:get",
        200,
        "Show when nodes are free",
        since=mv.V1_5,
        query=availability_schemas.QUERY,
        answer=availability_schemas.one,
        changes=True,
    ),
)
