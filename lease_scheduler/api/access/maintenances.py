"""Maintenances."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (
    rule("maintenances:get", ADMIN, "List maintenances.", "GET /v1/maintenances"),
    rule("maintenances:post", ADMIN, "Keep hosts free of leases for a time.", "POST /v1/maintenances"),
)
