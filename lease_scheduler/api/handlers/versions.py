"""Version documents, and the description of the interface."""

from __future__ import annotations

from lease_scheduler.api.microversions import MAXIMUM, MINIMUM
from lease_scheduler.api.openapi import describe
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document


def list_versions(request: ApiRequest) -> Answer:
    """List the versions of the interface."""
    return Answer({"versions": [_version(request)]})


def show_version(request: ApiRequest) -> Answer:
    """Show the version that the path names."""
    return Answer({"version": _version(request)})


def show_openapi(request: ApiRequest) -> Answer:
    """Show the OpenAPI description of the requested microversion."""
    return Answer(describe(request.services.routes, request.version, request.base_url))


def _version(request: ApiRequest) -> Document:
    return {
        "id": "v1.0",
        "status": "CURRENT",
        "min_version": str(MINIMUM),
        "max_version": str(MAXIMUM),
        "links": [{"href": f"{request.base_url}/v1", "rel": "self"}],
    }
