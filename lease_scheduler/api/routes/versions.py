"""Versions of the API, and its description."""

from __future__ import annotations

from lease_scheduler.api.handlers import versions
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import versions as version_schemas

ROUTES = (
    Route("GET", "/", versions.list_versions, None, 300, "List versions", answer=version_schemas.several),
    Route("GET", "/versions", versions.list_versions, None, 300, "List versions", answer=version_schemas.several),
    Route("GET", "/v1", versions.show_version, None, 200, "Show the version", answer=version_schemas.one),
    Route("GET", "/v1/", versions.show_version, None, 200, "Show the version", answer=version_schemas.one),
    Route("GET", "/v1/openapi.json", versions.show_openapi, None, 200, "Describe the interface of this microversion"),
)
