"""Projects."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import names
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import names as name_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/projects",
        names.list_projects,
        "projects:get",
        200,
        "List the names of the projects that have leases",
        since=mv.V1_40,
        answer=name_schemas.projects,
    ),
)
