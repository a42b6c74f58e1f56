"""Events."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("events:get", READER, "List what happened to the leases of a project.", "GET /v1/events"),
    rule("events:all_projects", ADMIN, "List what happened to the leases of all projects.", "GET /v1/events"),
)
