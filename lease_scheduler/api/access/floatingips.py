"""Floating IP addresses."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule(
        "floatingips:get",
        READER,
        "List and show floating IPs.",
        "GET /v1/floatingips",
        "GET /v1/floatingips/{floatingip_id}",
    ),
    rule("floatingips:post", ADMIN, "Add a floating IP to the pool.", "POST /v1/floatingips"),
    rule("floatingips:delete", ADMIN, "Remove a floating IP from the pool.", "DELETE /v1/floatingips/{floatingip_id}"),
)
