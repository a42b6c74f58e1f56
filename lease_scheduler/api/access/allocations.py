"""Allocations of hosts."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (
    rule(
        "oshosts:get_allocations",
        ADMIN,
        "List which hosts reservations have.",
        "GET /v1/os-hosts/allocations",
        "GET /v1/os-hosts/{host_id}/allocation",
    ),
)
