"""Series of leases."""

from lease_scheduler.api.access.base import MEMBER, READER, rule

RULES = (
    rule("series:get", READER, "List and show series.", "GET /v1/series", "GET /v1/series/{series_id}"),
    rule("series:post", MEMBER, "Create a series.", "POST /v1/series"),
    rule("series:delete", MEMBER, "End a series.", "DELETE /v1/series/{series_id}"),
)
