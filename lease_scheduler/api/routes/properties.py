"""Properties of hosts."""

from __future__ import annotations

from lease_scheduler.api.handlers import properties
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import properties as property_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/os-hosts/properties",
        properties.list_properties,
        "oshosts:get_resource_properties",
        200,
        "List properties of hosts",
        query=property_schemas.QUERY,
        answer=property_schemas.several,
    ),
    Route(
        "PATCH",
        "/v1/os-hosts/properties/{property_name}",
        properties.update_property,
        "oshosts:update_resource_properties",
        200,
        "Make a property public or private",
        body=property_schemas.update,
        answer=property_schemas.one,
        changes=True,
    ),
)
