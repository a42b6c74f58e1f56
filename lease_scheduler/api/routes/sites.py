"""The sites behind a gateway."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import sites
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import sites as site_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/sites",
        sites.list_sites,
        "sites:get",
        200,
        "List the sites behind a gateway; a site itself has none",
        since=mv.V1_51,
        answer=site_schemas.several,
    ),
    Route(
        "GET",
        "/v1/sites/{site}",
        sites.show,
        "sites:get",
        200,
        "Show a site behind a gateway",
        since=mv.V1_51,
        answer=site_schemas.one,
    ),
)
