"""Quotes."""

from lease_scheduler.api.access.base import MEMBER, rule

RULES = (
    rule(
        "quotes:post",
        MEMBER,
        "Request a quote. Holding it also needs the permission to create leases.",
        "POST /v1/quotes",
    ),
)
