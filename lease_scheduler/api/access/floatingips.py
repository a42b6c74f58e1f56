"""Floating IP addresses."""

from lease_scheduler.api.access.base import ADMIN, READER, rule

RULES = (
    rule("floatingips:get", READER, "List and show.", "GET /v1/floatingips", "GET /v1/floatingips/{floatingip_id}"),
    rule("floatingips:post", ADMIN, "Take an address into the pool.", "POST /v1/floatingips"),
    rule("floatingips:delete", ADMIN, "Take an address out of the pool.", "DELETE /v1/floatingips/{floatingip_id}"),
)
