"""The sites behind a gateway."""

from lease_scheduler.api.access.base import READER, rule

RULES = (
    rule(
        "sites:get",
        READER,
        "Show the sites behind a gateway. Only users who may list hosts see their capacity and load, and the number of "
        "leases of all projects.",
        "GET /v1/sites",
        "GET /v1/sites/{site}",
    ),
)
