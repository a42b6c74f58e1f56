"""Budgets."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("budget:get", READER, "Show what is left of the budgets of a project.", "GET /v1/budget"),
    rule("budget:all_projects", ADMIN, "Show what is left of the budgets of other projects.", "GET /v1/budget"),
)
