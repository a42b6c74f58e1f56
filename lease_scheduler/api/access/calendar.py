"""The calendar page."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("calendar:get", READER, "Show the calendar; leases of other projects have no names.", "GET /v1/calendar"),
    rule("calendar:get_names", ADMIN, "Show the projects and names of all leases in the calendar.", "GET /v1/calendar"),
)
