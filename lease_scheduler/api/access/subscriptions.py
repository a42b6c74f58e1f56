"""Subscriptions to notifications."""

from lease_scheduler.api.access.base import ADMIN, MEMBER, READER, rule

RULES = (
    rule(
        "subscriptions:get",
        READER,
        "List and show subscriptions.",
        "GET /v1/subscriptions",
        "GET /v1/subscriptions/{subscription_id}",
    ),
    rule("subscriptions:post", MEMBER, "Subscribe to notifications.", "POST /v1/subscriptions"),
    rule("subscriptions:put", MEMBER, "Change a subscription.", "PUT /v1/subscriptions/{subscription_id}"),
    rule("subscriptions:delete", MEMBER, "Delete a subscription.", "DELETE /v1/subscriptions/{subscription_id}"),
    rule("subscriptions:all_projects", ADMIN, "List the subscriptions of all projects.", "GET /v1/subscriptions"),
)
