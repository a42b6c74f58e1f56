"""The iCalendar feed."""

from lease_scheduler.api.access.base import READER, rule

RULES = (rule("feed:get", READER, "Subscribe to the leases of a project.", "GET /v1/leases.ics"),)
