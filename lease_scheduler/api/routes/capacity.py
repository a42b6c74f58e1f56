"""Capacity."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import capacity
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import capacity as capacity_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/capacity",
        capacity.show,
        "capacity:get",
        200,
        "Show how many hosts can go, or are missing, at which promise",
        since=mv.V1_32,
        query=capacity_schemas.QUERY,
        answer=capacity_schemas.one,
    ),
)
