"""Flows: the projects among which the site is shared."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("flows:get", READER, "Show the share and the weight of the project.", "GET /v1/flows", "GET /v1/flows/{flow}"),
    rule("flows:put", ADMIN, "Set the weight of a flow.", "PUT /v1/flows/{flow}"),
    rule("flows:all_projects", ADMIN, "Show all flows.", "GET /v1/flows", "GET /v1/flows/{flow}"),
)
