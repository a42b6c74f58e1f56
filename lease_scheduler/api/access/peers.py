"""Peers."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (
    rule("peers:get", ADMIN, "Show peers, their limits and what they have.", "GET /v1/peers", "GET /v1/peers/{peer}"),
    rule("peers:put", ADMIN, "Set the limits of a peer.", "PUT /v1/peers/{peer}"),
    rule("peers:delete", ADMIN, "Remove the limits of a peer.", "DELETE /v1/peers/{peer}"),
)
