"""The calendar page."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("calendar:get", READER, "Show which hosts are taken when, without the names of others.", "GET /v1/calendar"),
    rule("calendar:get_names", ADMIN, "Show whose they are and what they are called.", "GET /v1/calendar"),
)
