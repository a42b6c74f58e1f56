"""Usage."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("usage:get", READER, "Show the usage of a project.", "GET /v1/usage"),
    rule("usage:all_projects", ADMIN, "Show the usage of all projects.", "GET /v1/usage"),
)
