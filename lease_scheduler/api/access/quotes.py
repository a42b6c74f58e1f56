"""Quotes."""

from lease_scheduler.api.access.base import MEMBER, rule

RULES = (
    rule(
        "quotes:post",
        MEMBER,
        "Ask what a lease would come to, and have it held if one may also create leases.",
        "POST /v1/quotes",
    ),
)
