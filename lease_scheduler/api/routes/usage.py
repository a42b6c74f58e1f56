"""Usage."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import usage
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import usage as usage_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/usage",
        usage.show,
        "usage:get",
        200,
        "Show node-hours and resource-hours, and what was earned",
        since=mv.V1_10,
        query=usage_schemas.QUERY,
        answer=usage_schemas.several,
    ),
)
