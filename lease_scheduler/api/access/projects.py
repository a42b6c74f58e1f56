"""Permissions for projects."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (rule("projects:get", ADMIN, "List the names of the projects that have leases.", "GET /v1/projects"),)
