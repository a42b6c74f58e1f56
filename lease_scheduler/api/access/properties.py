"""Properties of hosts."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (
    rule("oshosts:get_resource_properties", ADMIN, "List the properties of hosts.", "GET /v1/os-hosts/properties"),
    rule(
        "oshosts:update_resource_properties",
        ADMIN,
        "Make a property public or private.",
        "PATCH /v1/os-hosts/properties/{property_name}",
    ),
)
