"""Series of leases."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import series
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import series as series_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/series",
        series.list_series,
        "series:get",
        200,
        "List series",
        since=mv.V1_9,
        answer=series_schemas.several,
    ),
    Route(
        "POST",
        "/v1/series",
        series.create_series,
        "series:post",
        201,
        "Create leases that repeat",
        since=mv.V1_9,
        body=series_schemas.create,
        answer=series_schemas.created,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/series/{series_id}",
        series.show,
        "series:get",
        200,
        "Show a series",
        since=mv.V1_9,
        subject="series",
        answer=series_schemas.one,
    ),
    Route(
        "DELETE",
        "/v1/series/{series_id}",
        series.delete_series,
        "series:delete",
        204,
        "End a series",
        since=mv.V1_9,
        subject="series",
        changes=True,
    ),
)
