"""Forecasts."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import forecasts
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import forecasts as forecast_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/forecasts",
        forecasts.list_forecasts,
        "forecasts:get",
        200,
        "List forecasts with how often they held",
        since=mv.V1_33,
        answer=forecast_schemas.several,
        changes=True,
    ),
)
