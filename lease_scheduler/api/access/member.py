"""What the site is for gateways and other sites."""

from lease_scheduler.api.access.base import READER, rule

RULES = (
    rule(
        "member:get",
        READER,
        "Show what can be asked of the site. Only peers, and users who may list hosts, see its capacity and load.",
        "GET /v1/member",
    ),
)
