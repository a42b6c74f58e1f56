"""Usage."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("usage:get", READER, "Show what a project occupied.", "GET /v1/usage"),
    rule("usage:all_projects", ADMIN, "Show what all projects occupied.", "GET /v1/usage"),
)
